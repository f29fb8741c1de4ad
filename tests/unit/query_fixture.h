// A small database and a folder for the tests of the query layer.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <string>
#include <utility>

#include "tracedb/base/sqlite_db.h"

namespace tracedb {

class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "tracedb_test_XXXXXX").string();
    path_ = mkdtemp(name.data());
  }
  ~TemporaryFolder() {
    std::error_code code;
    std::filesystem::remove_all(path_, code);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

inline void FillTestDatabase(SqliteDb& db) {
  const Status filled = db.Execute(
      "CREATE TABLE t(rank INTEGER, name TEXT, busy_ms REAL);"
      "CREATE TABLE traces(folder TEXT, path TEXT);"
      "INSERT INTO t VALUES (0, 'gemm', 1.5), (1, 'all, reduce', 2.25), (2, NULL, NULL);");
  ASSERT_TRUE(filled.ok()) << filled.error().what;
}

inline SqliteDb TestDatabase() {
  auto db = SqliteDb::OpenInMemory();
  FillTestDatabase(db.value());
  return std::move(db).value();
}

}  // namespace tracedb
