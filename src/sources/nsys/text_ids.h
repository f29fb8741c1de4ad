// The texts of an export by their numbers (StringIds), as insides of JSON strings.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "sources/nsys/export_tables.h"
#include "tracedb/base/result.h"
#include "tracedb/base/sqlite_db.h"

namespace tracedb {

class TextIds {
 public:
  // What does not fit in `bytes_max` is looked up in the export, or, where that has no index, in a
  // copy.
  static Result<TextIds> Read(SqliteDb& db, const ExportTables& tables, uint64_t rows_max,
                              size_t bytes_max);

  // Null: there is none, or status() says why nobody knows. It lives until the next call.
  const std::string* Find(int64_t id);
  // The first error of a look-up.
  const Status& status() const { return status_; }

 private:
  TextIds() = default;
  Status CopyRest(SqliteStatement& rows, uint64_t rows_max);
  Result<bool> LookUp(int64_t id);

  std::unordered_map<int64_t, std::string> texts_;
  size_t bytes_ = 0;
  std::optional<SqliteDb> copy_;            // goes after the statement
  std::optional<SqliteStatement> look_up_;  // none: all are in memory
  std::string found_;
  Status status_ = Done{};
};

// Appends the text as the inside of a JSON string.
void AppendJsonInside(std::string& out, std::string_view text);

}  // namespace tracedb
