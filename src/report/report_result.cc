#include "report/report_result.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "query/result_text.h"

namespace tracedb {
namespace {

std::string Shown(std::string_view text) {
  size_t bytes = 0;
  while (bytes < text.size()) {
    const size_t next = ReadUtf8(text.substr(bytes)).bytes;
    if (bytes + next > ReportResult::kTextBytesMax) break;
    bytes += next;
  }
  std::string shown = ShownText(text.substr(0, bytes));
  if (bytes < text.size()) shown += "…";
  return shown;
}

void AppendNumber(std::string& out, const Cell& cell) {
  if (cell.type == SqlType::kInteger) {
    fmt::format_to(std::back_inserter(out), "{}", cell.integer);
  } else if (cell.type == SqlType::kReal && std::isfinite(cell.real)) {
    AppendReal(out, cell.real);
  } else {
    out += "null";
  }
}

std::string TextOf(const Cell& cell) {
  if (cell.type == SqlType::kText || cell.type == SqlType::kBlob) return std::string(cell.text);
  std::string text;
  AppendNumber(text, cell);
  return text;
}

}  // namespace

void AppendJsonField(std::string& out, std::string_view name, std::string_view text) {
  if (!out.empty() && out.back() != '{' && out.back() != '[') out += ',';
  AppendJsonText(out, name);
  out += ':';
  AppendJsonText(out, text);
}

Status ReportResult::Begin(std::span<const std::string> column_names) {
  if (column_names.size() != doc_.columns.size()) {
    return Error{ErrorKind::kQuery,
                 fmt::format("{}: its column lines are not the result's columns", doc_.file), ""};
  }
  columns_.resize(column_names.size());
  for (size_t i = 0; i < columns_.size(); ++i) {
    columns_[i].is_text = doc_.columns[i].type == DocType::kText;
  }
  return Done{};
}

void ReportResult::AddText(Column& column, std::string_view text) {
  // What is a list of numbers has a bounded length, and is of no use when it is cut.
  const bool is_list =
      text.starts_with('[') && text.find_first_not_of("[],0123456789") == std::string_view::npos;
  std::string shown = is_list ? std::string(text) : Shown(text);
  const auto known = column.places.find(shown);
  if (known != column.places.end()) {
    column.values += std::to_string(known->second);
    return;
  }
  if (column.texts_bytes + shown.size() > kTextsBytesMax) {
    column.values += "-1";
    return;
  }
  column.texts_bytes += shown.size();
  if (!column.texts.empty()) column.texts += ',';
  AppendJsonText(column.texts, shown);
  column.values += std::to_string(column.places.size());
  column.places.emplace(std::move(shown), column.places.size());
}

Status ReportResult::Row(std::span<const Cell> cells) {
  if (++rows_found_ > rows_max_) return Done{};
  for (size_t i = 0; i < cells.size(); ++i) {
    Column& column = columns_[i];
    if (rows_found_ > 1) column.values += ',';
    if (column.is_text && cells[i].type != SqlType::kNull) {
      AddText(column, TextOf(cells[i]));
    } else {
      AppendNumber(column.values, cells[i]);
    }
  }
  return Done{};
}

std::string ReportResult::Json() const {
  std::string json = fmt::format("{{\"rows\":{},\"rows_found\":{},\"columns\":[",
                                 std::min(rows_found_, rows_max_), rows_found_);
  for (size_t i = 0; i < columns_.size(); ++i) {
    const QueryColumn& column = doc_.columns[i];
    std::string entry = "{";
    AppendJsonField(entry, "name", column.name);
    AppendJsonField(entry, "type", DocTypeName(column.type));
    AppendJsonField(entry, "unit", column.unit);
    AppendJsonField(entry, "about", column.text);
    if (columns_[i].is_text) entry += fmt::format(",\"texts\":[{}]", columns_[i].texts);
    json += fmt::format("{}{},\"values\":[{}]}}", i == 0 ? "" : ",", entry, columns_[i].values);
  }
  return json + "]}";
}

}  // namespace tracedb
