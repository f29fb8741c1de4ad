// A table's file in a summary, checked against what such a file has to be, and its numbers put in
// the place that the trace has in a gathered database.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <utility>
#include <vector>

#include "tracedb/base/result.h"
#include "tracedb/base/sqlite_db.h"
#include "tracedb/parquet/parquet_reader.h"
#include "tracedb/shards/summary_tables.h"

namespace tracedb {

// A trace of a summary: what its rows are numbered from in its own database, and in this one.
struct SummaryTrace {
  int64_t from_id = 0, first_row = 0, last_row = 0, first_text = 0, last_text = 0;
  int64_t trace_id = 0;
  int64_t row_shift = 0, text_shift = 0;
  int64_t base_ns = 0;
  bool is_left_out = false;  // its content is there already
};

class SummaryFile {
 public:
  static Result<SummaryFile> Open(const std::filesystem::path& path, const SummaryTable& table);

  size_t groups() const { return reader_.groups(); }
  int64_t GroupRows(size_t group) const { return reader_.GroupRows(group); }
  std::optional<std::pair<int64_t, int64_t>> Range(size_t group, const char* column) const;
  // Reads all columns of a row group, in whose rows the following look.
  Status ReadGroup(size_t group);
  size_t rows() const { return values_.front().rows(); }

  bool IsNull(size_t row, size_t column) const { return values_[column].is_there[row] == 0; }
  int64_t Int(size_t row, size_t column) const { return values_[column].integers[row]; }
  std::string_view Text(size_t row, size_t column) const { return values_[column].Text(row); }
  // The value as it is; of a number that refers to something, what it is here. False: its row is of
  // a trace that is left out. An error: it refers to nothing that the traces have.
  Result<bool> Bind(SqliteStatement& to, int parameter, size_t row, size_t column,
                    const std::vector<SummaryTrace>& traces) const;
  // The same, of a number that refers to something.
  Result<std::optional<int64_t>> Moved(size_t row, size_t column,
                                       const std::vector<SummaryTrace>& traces) const;
  // Whose this row is; null where no trace has it.
  const SummaryTrace* TraceOf(size_t row, size_t column,
                              const std::vector<SummaryTrace>& traces) const;

 private:
  SummaryFile(std::filesystem::path path, const SummaryTable& table, ParquetReader reader)
      : path_(std::move(path)), table_(&table), reader_(std::move(reader)) {}

  std::filesystem::path path_;
  const SummaryTable* table_;
  ParquetReader reader_;
  std::vector<ParquetValues> values_;
  // Of each column of the table: the file's columns with its odd values; -1: it has none.
  std::vector<int> text_, real_;
};

}  // namespace tracedb
