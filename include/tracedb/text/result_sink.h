// Rows -> text. A RowSink takes the rows of one result after another and writes them to an
// OutputStream in one format; it knows nothing of SQL.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tracedb/base/result.h"
#include "tracedb/base/sqlite_db.h"
#include "tracedb/text/output_stream.h"

namespace tracedb {

struct Cell {
  SqlType type = SqlType::kNull;
  int64_t integer = 0;    // of kInteger
  double real = 0;        // of kReal
  std::string_view text;  // of kText and kBlob; dies when RowSink::Row returns
};

class RowSink {
 public:
  virtual ~RowSink() = default;
  // One result: Begin, a Row for each row (as many cells as there are names), End. A result that
  // failed half-way gets no End.
  virtual Status Begin(std::span<const std::string> column_names) = 0;
  virtual Status Row(std::span<const Cell> cells) = 0;
  virtual Status End() = 0;
  // Before Begin, to a sink that wants them: the types that the columns were declared with in their
  // tables; kNull: none. A value may have another.
  virtual bool WantsDeclared() const { return false; }
  virtual void Declare(std::span<const SqlType>) {}
  // Before Begin: what holds for all rows of the next result. Formats for programs leave it out.
  virtual Status Caption(std::string_view) { return Done{}; }
};

enum class Format { kTable, kCsv, kTsv, kJson, kNdjson, kMarkdown, kArrow, kParquet };

// By its name on the command line: table, csv, tsv, json, ndjson, markdown, arrow, parquet.
std::optional<Format> FormatByName(std::string_view name);
std::string_view FormatName(Format format);
std::string_view FormatMediaType(Format format);  // "text/csv; charset=utf-8"
// Bytes for programs: nothing for a terminal.
inline bool IsBinary(Format format) {
  return format == Format::kArrow || format == Format::kParquet;
}

// How a table for people makes do with the width there is.
struct TableLayout {
  int width = 0;  // characters a line may take; 0: any number
  std::vector<std::string> lead =
      {};  // columns by importance; those not named follow in their order
  std::vector<std::string> wrap = {};  // texts that are the point: they go on in further lines
  size_t lines_max = 0;   // of a screen; rows that do not fit it are counted only; 0: all do
  bool vertical = false;  // each row as a block, a line or more for each value
  bool silent_when_empty = false;  // why there is no row is said elsewhere
  bool color = false;              // of names
  std::string_view others = "--wide or --format csv has them";  // where columns left out are
};

struct SinkOptions {
  bool header = true;         // json, ndjson and markdown have their names in any case
  bool terminal = false;      // a person is watching: the table ends with "(8 rows)"
  TableLayout table = {};     // of a table
  bool safe_text = false;     // csv and tsv: AppendGuarded
  bool long_as_text = false;  // csv and tsv: integers of which spreadsheets keep 15 digits get a '
  bool crlf = false;          // csv: lines end as RFC 4180 has it
  // arrow, parquet: what the columns are known to hold; kNull: not known. Nothing where none is
  // known.
  std::vector<SqlType> types = {};
};

// `output` must outlive the sink. The sink does not flush it.
std::unique_ptr<RowSink> MakeSink(Format format, const SinkOptions& options, OutputStream& output);

}  // namespace tracedb
