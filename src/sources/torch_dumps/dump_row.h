// A row of a dump's table: values by column, most of which may be missing.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "sources/values/plain_values.h"
#include "tracedb/base/result.h"
#include "tracedb/base/sqlite_db.h"
#include "tracedb/sources/read/source_reader.h"

namespace tracedb {

class DumpRow {
 public:
  // `sql` inserts; its parameters are bound in order.
  static Result<DumpRow> Open(SourceRows& rows, std::string_view sql) {
    TRACEDB_ASSIGN(statement, rows.db->Prepare(sql));
    return DumpRow(rows, std::move(statement));
  }

  DumpRow& Add(int64_t value) { return Note(statement_.Bind(++bound_, value)); }
  DumpRow& Add(std::optional<int64_t> value) {
    return Note(value ? statement_.Bind(++bound_, *value) : statement_.BindNull(++bound_));
  }
  DumpRow& Add(std::optional<double> value) {
    return Note(value ? statement_.Bind(++bound_, *value) : statement_.BindNull(++bound_));
  }
  DumpRow& Add(const std::optional<std::string>& value) {
    return Add(value ? std::optional<std::string_view>(*value) : std::nullopt);
  }
  // A pickle has a text once for many rows: beyond text_bytes_max texts are left out and counted.
  DumpRow& Add(std::optional<std::string_view> value);
  // A number or a text as it is, a truth as 0 or 1, nothing as NULL, a container as JSON; NULL and
  // counted where that is too long.
  DumpRow& Add(const PlainValues& values, ValueId value);

  // Writes what was added since the last time.
  Status Write() {
    bound_ = 0;
    if (failed_.has_value()) return *std::move(failed_);
    return statement_.Run();
  }

 private:
  DumpRow(SourceRows& rows, SqliteStatement statement)
      : rows_(&rows), statement_(std::move(statement)) {}
  DumpRow& Note(Status status) {
    if (!status.ok() && !failed_.has_value()) failed_ = status.error();
    return *this;
  }

  SourceRows* rows_;
  SqliteStatement statement_;
  std::optional<Error> failed_;
  int bound_ = 0;
};

}  // namespace tracedb
