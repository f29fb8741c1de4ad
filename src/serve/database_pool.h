// Read-only connections to the one database, for whoever asks for it: kept open between requests,
// and opened anew when another file has the database's name. Also knows when its content changed.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tracedb/base/result.h"
#include "tracedb/base/sqlite_db.h"

namespace tracedb {

class DatabasePool {
 public:
  // One connection, given back when this goes. Its statements must have gone before.
  class Lease {
   public:
    Lease(DatabasePool& pool, SqliteDb db, std::string file)
        : pool_(&pool), db_(std::make_unique<SqliteDb>(std::move(db))), file_(std::move(file)) {}
    ~Lease();
    Lease(Lease&&) noexcept = default;
    Lease& operator=(Lease&&) = delete;

    SqliteDb& db() { return *db_; }

   private:
    DatabasePool* pool_;
    std::unique_ptr<SqliteDb> db_;
    std::string file_;  // which file it is that was opened
  };

  // `on_open` may be empty; see ServeOptions.
  DatabasePool(std::filesystem::path path, std::function<Status(SqliteDb&)> on_open)
      : path_(std::move(path)), on_open_(std::move(on_open)) {}

  Result<Lease> Borrow();

  // A text that is another one whenever the database may be another one.
  Result<std::string> Version();
  // Whether somebody is writing: for milliseconds, or for as long as it waits for its readers.
  bool HasJournal() const;

 private:
  using Opened = std::pair<SqliteDb, std::string>;
  Result<Opened> Open() const;
  void GiveBack(std::unique_ptr<SqliteDb> db, std::string file);

  const std::filesystem::path path_;
  const std::function<Status(SqliteDb&)> on_open_;
  std::mutex idle_mutex_;
  std::vector<Opened> idle_;
  std::mutex watch_mutex_;
  std::optional<Opened> watch_;  // asked for PRAGMA data_version only
};

}  // namespace tracedb
