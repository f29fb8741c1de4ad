#include "report/report_result.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "tracedb/text/result_text.h"

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

// Numbers of a timeline, which grow from row to row and are never NULL.
bool IsDelta(std::string_view query, const QueryColumn& column) {
  if (!query.starts_with("report/")) return false;
  return column.name == "lane" || column.name == "slice_id" || column.name == "start_ns" ||
         column.name == "launch_slice_id";
}

std::string TextOf(const Cell& cell) {
  if (cell.type == SqlType::kText || cell.type == SqlType::kBlob) return std::string(cell.text);
  std::string text;
  AppendNumber(text, cell);
  return text;
}

}  // namespace

std::string WithoutTags(std::string_view json) {
  std::string text;
  text.reserve(json.size());
  for (const char c : json) {
    if (c == '<') {
      text += "\\u003c";
    } else {
      text += c;
    }
  }
  return text;
}

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
    columns_[i].is_delta = IsDelta(doc_.name, doc_.columns[i]);
  }
  return Done{};
}

void ReportResult::AddText(Column& column, std::string_view text) {
  const auto seen = column.places.find(text);
  if (seen != column.places.end() && seen->second.is_as_is) {
    column.values += std::to_string(seen->second.place);
    return;
  }
  // What is a list of numbers has a bounded length, and is of no use when it is cut.
  const bool is_list =
      text.starts_with('[') && text.find_first_not_of("[],0123456789") == std::string_view::npos;
  std::string shown = is_list ? std::string(text) : Shown(text);
  const auto known = column.places.find(shown);
  if (known != column.places.end()) {
    known->second.is_as_is |= shown == text;
    column.values += std::to_string(known->second.place);
    return;
  }
  std::string json;
  AppendJsonText(json, shown);
  json = WithoutTags(json);
  if (column.texts.size() + json.size() > kTextsBytesMax) {
    column.values += "-1";
    return;
  }
  if (!column.texts.empty()) column.texts += ',';
  column.texts += json;
  column.values += std::to_string(column.places.size());
  const TextPlace place{column.places.size(), shown == text};
  column.places.emplace(std::move(shown), place);
}

size_t ReportResult::Bytes() const {
  size_t bytes = 0;
  for (const Column& column : columns_) bytes += column.values.size() + column.texts.size();
  return bytes;
}

Status ReportResult::Row(std::span<const Cell> cells) {
  ++rows_found_;
  // Rows that come after one that was left out are left out, too.
  if (rows_ + 1 < rows_found_ || rows_ == rows_max_ || Bytes() > bytes_max_) return Done{};
  ++rows_;
  for (size_t i = 0; i < cells.size(); ++i) {
    Column& column = columns_[i];
    column.begins.push_back({column.values.size(), column.texts.size()});
    if (rows_ > 1) column.values += ',';
    if (column.is_text && cells[i].type == SqlType::kText) {
      AddText(column, cells[i].text);
    } else if (column.is_text && cells[i].type != SqlType::kNull) {
      AddText(column, TextOf(cells[i]));
    } else if (column.is_delta) {
      const auto last = static_cast<uint64_t>(std::exchange(column.last, cells[i].integer));
      column.values +=
          std::to_string(static_cast<int64_t>(static_cast<uint64_t>(cells[i].integer) - last));
    } else {
      AppendNumber(column.values, cells[i]);
    }
  }
  return Done{};
}

std::string ReportResult::Json(size_t bytes_max) const {
  const auto fits = [&](size_t row) {
    size_t bytes = 0;
    for (const Column& column : columns_) {
      bytes += column.begins[row].values + column.begins[row].texts;
    }
    return bytes <= bytes_max;
  };
  size_t rows = 0;
  while (rows < static_cast<size_t>(rows_) && fits(rows)) ++rows;
  std::string json =
      fmt::format("{{\"rows\":{},\"rows_found\":{},\"columns\":[", rows, rows_found_);
  for (size_t i = 0; i < columns_.size(); ++i) {
    const Column& values = columns_[i];
    const bool is_all = rows == values.begins.size();
    const Place end =
        is_all ? Place{values.values.size(), values.texts.size()} : values.begins[rows];
    const QueryColumn& column = doc_.columns[i];
    std::string entry = "{";
    AppendJsonField(entry, "name", column.name);
    AppendJsonField(entry, "type", DocTypeName(column.type));
    AppendJsonField(entry, "unit", column.unit);
    AppendJsonField(entry, "about", column.text);
    if (values.is_delta) entry += ",\"delta\":1";
    if (values.is_text) {
      entry += fmt::format(",\"texts\":[{}]", std::string_view(values.texts).substr(0, end.texts));
    }
    json += fmt::format("{}{},\"values\":[{}]}}", i == 0 ? "" : ",", entry,
                        std::string_view(values.values).substr(0, end.values));
  }
  return json + "]}";
}

Status StepSums::Begin(std::span<const std::string> column_names) {
  return next_.Begin(column_names);
}

Status StepSums::Row(std::span<const Cell> cells) {
  Sums sums;
  for (size_t i = 0; i < cells.size(); ++i) {
    const std::string& name = doc_.columns[i].name;
    if (name == "run") sums.run = TextOf(cells[i]);
    if (name == "rank") sums.rank = cells[i];
    if (name == "device") sums.device = TextOf(cells[i]);
    const auto number = static_cast<double>(cells[i].integer);
    sums.numbers.push_back(cells[i].type == SqlType::kInteger ? number : cells[i].real);
  }
  const std::string key = fmt::format("{} {} {}", sums.rank.integer, sums.device, sums.run);
  const auto [place, is_new] = places_.emplace(key, sums_.size());
  if (is_new) {
    sums_.push_back(std::move(sums));
    return Done{};
  }
  std::vector<double>& known = sums_[place->second].numbers;
  for (size_t i = 0; i < known.size(); ++i) {
    const bool is_start = doc_.columns[i].name == "start_ms";
    known[i] = is_start ? std::min(known[i], sums.numbers[i]) : known[i] + sums.numbers[i];
  }
  return Done{};
}

Status StepSums::End() {
  std::vector<Cell> cells(doc_.columns.size());
  for (const Sums& sums : sums_) {
    for (size_t i = 0; i < cells.size(); ++i) {
      const std::string& name = doc_.columns[i].name;
      cells[i] = Cell{SqlType::kReal, 0, sums.numbers[i], ""};
      if (name == "run") cells[i] = Cell{SqlType::kText, 0, 0, sums.run};
      if (name == "rank") cells[i] = sums.rank;
      if (name == "device") cells[i] = Cell{SqlType::kText, 0, 0, sums.device};
      if (name == "step" || name == "capture" || doc_.columns[i].unit == "pct") cells[i] = Cell{};
    }
    TRACEDB_TRY(next_.Row(cells));
  }
  return next_.End();
}

}  // namespace tracedb
