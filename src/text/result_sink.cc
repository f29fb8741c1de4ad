#include "tracedb/text/result_sink.h"

#include <array>
#include <cassert>

#include "tracedb/text/result_sinks.h"
#include "tracedb/text/result_text.h"

namespace tracedb {
namespace {

struct FormatText {
  Format format;
  std::string_view name;
  std::string_view media_type;
};
constexpr std::array<FormatText, 8> kFormats = {
    {{Format::kTable, "table", "text/plain; charset=utf-8"},
     {Format::kCsv, "csv", "text/csv; charset=utf-8"},
     {Format::kTsv, "tsv", "text/tab-separated-values; charset=utf-8"},
     {Format::kJson, "json", "application/json"},
     {Format::kNdjson, "ndjson", "application/x-ndjson"},
     {Format::kMarkdown, "markdown", "text/markdown; charset=utf-8"},
     {Format::kArrow, "arrow", "application/vnd.apache.arrow.stream"},
     {Format::kParquet, "parquet", "application/vnd.apache.parquet"}}};

const FormatText& TextOf(Format format) {
  for (const FormatText& known : kFormats) {
    if (known.format == format) return known;
  }
  assert(false);
  return kFormats[0];
}

}  // namespace

std::optional<Format> FormatByName(std::string_view name) {
  for (const FormatText& known : kFormats) {
    if (known.name == name) return known.format;
  }
  return std::nullopt;
}

std::string_view FormatName(Format format) { return TextOf(format).name; }

std::string_view FormatMediaType(Format format) { return TextOf(format).media_type; }

std::unique_ptr<RowSink> MakeSink(Format format, const SinkOptions& options, OutputStream& output) {
  switch (format) {
    case Format::kTable:
      return MakeTableSink(options, output);
    case Format::kCsv:
      return MakeCsvSink(options, output);
    case Format::kTsv:
      return MakeTsvSink(options, output);
    case Format::kJson:
      return MakeJsonSink(output);
    case Format::kNdjson:
      return MakeNdjsonSink(output);
    case Format::kMarkdown:
      return MakeMarkdownSink(output);
    case Format::kArrow:
      return MakeArrowSink(options, output);
    case Format::kParquet:
      return MakeParquetSink(options, output);
  }
  return nullptr;
}

Cell ReadCell(const SqliteStatement& row, int column) {
  Cell cell;
  cell.type = row.Type(column);
  switch (cell.type) {
    case SqlType::kNull:
      break;
    case SqlType::kInteger:
      cell.integer = row.Int(column);
      break;
    case SqlType::kReal:
      cell.real = row.Real(column);
      break;
    case SqlType::kText:
    case SqlType::kBlob:
      cell.text = row.Text(column);
      break;
  }
  return cell;
}

void AppendCell(std::string& out, const Cell& cell) {
  switch (cell.type) {
    case SqlType::kNull:
      break;
    case SqlType::kInteger:
      out += std::to_string(cell.integer);
      break;
    case SqlType::kReal:
      AppendReal(out, cell.real);
      break;
    case SqlType::kText:
      out += cell.text;
      break;
    case SqlType::kBlob:
      AppendHex(out, cell.text);
      break;
  }
}

}  // namespace tracedb
