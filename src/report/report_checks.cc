#include "report/report_checks.h"

#include <fmt/format.h>

#include <vector>

#include "report/report_result.h"
#include "tracedb/text/result_text.h"

namespace tracedb {
namespace {

constexpr int64_t kRowsShownMax = 10;
constexpr size_t kRowsBytesMax = 10'000;  // of one check

std::string FirstRows(const CheckResult& check) {
  ReportResult rows(*check.doc, kRowsShownMax, kRowsBytesMax);
  std::vector<std::string> names;
  for (const QueryColumn& column : check.doc->columns) names.push_back(column.name);
  if (!rows.Begin(names).ok()) return "null";
  std::vector<Cell> cells;
  for (const auto& row : check.rows) {
    cells.clear();
    for (const FoundValue& value : row) {
      cells.push_back({value.type, value.integer, value.real, value.text});
    }
    if (!rows.Row(cells).ok()) return "null";
  }
  return rows.Json();
}

std::string CheckAsJson(const CheckResult& check) {
  const bool is_clean = check.rows_found == 0;
  std::string json = "{";
  AppendJsonField(json, "check", check.name);
  AppendJsonField(json, "title", check.doc->title);
  if (!check.error.empty()) {
    AppendJsonField(json, "verdict", "failed");
    AppendJsonField(json, "error", ShownText(check.error));
    return json + "}";
  }
  AppendJsonField(json, "verdict", is_clean ? "clean" : check.is_finding ? "finding" : "note");
  if (is_clean) return json + "}";
  AppendJsonField(json, "meaning", check.doc->meaning);
  AppendJsonField(json, "advice", check.doc->advice);
  return json + fmt::format(",\"count\":{},\"rows_found\":{},\"result\":{}}}", check.count,
                            check.rows_found, FirstRows(check));
}

}  // namespace

std::string ChecksAsJson(const DoctorReport& report) {
  std::string json = "[";
  for (const CheckResult& check : report.checks) {
    json += (json.size() == 1 ? "" : ",\n") + CheckAsJson(check);
  }
  return json + "]";
}

}  // namespace tracedb
