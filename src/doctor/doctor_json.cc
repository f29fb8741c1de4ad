#include "tracedb/doctor/doctor_json.h"

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <vector>

#include "tracedb/text/result_sink.h"
#include "tracedb/text/result_text.h"

namespace tracedb {
namespace {

std::string_view Verdict(const CheckResult& check) {
  if (!check.error.empty()) return "failed";
  if (check.rows_found == 0) return "clean";
  return check.is_finding ? "finding" : "note";
}

void AppendKey(std::string& out, std::string_view key, std::string_view text) {
  AppendJsonText(out, key);
  out += ':';
  AppendJsonText(out, text);
  out += ',';
}

Result<std::string> Rows(const CheckResult& check) {
  StringOutput output;
  const auto sink = MakeSink(Format::kJson, {}, output);
  std::vector<std::string> names;
  for (const QueryColumn& column : check.doc->columns) names.push_back(column.name);
  TRACEDB_TRY(sink->Begin(names));
  std::vector<Cell> cells;
  for (const auto& row : check.rows) {
    cells.clear();
    for (const FoundValue& value : row) {
      cells.push_back({value.type, value.integer, value.real, value.text});
    }
    TRACEDB_TRY(sink->Row(cells));
  }
  TRACEDB_TRY(sink->End());
  TRACEDB_TRY(output.Flush());
  std::string text = output.text();
  while (text.ends_with('\n')) text.pop_back();
  return text;
}

Result<std::string> Entry(const CheckResult& check) {
  std::string entry = "{";
  AppendKey(entry, "check", check.name);
  AppendKey(entry, "title", check.doc->title);
  entry += fmt::format("\"count\":{},\"rows_found\":{},", check.count, check.rows_found);
  AppendKey(entry, "meaning", check.doc->meaning);
  AppendKey(entry, "advice", check.doc->advice);
  TRACEDB_ASSIGN(rows, Rows(check));
  return entry + "\"rows\":" + rows + "}";
}

// The entries of all checks with this verdict, as a JSON array.
Result<std::string> Entries(const DoctorReport& report, std::string_view verdict) {
  std::string entries;
  for (const CheckResult& check : report.checks) {
    if (Verdict(check) != verdict) continue;
    TRACEDB_ASSIGN(entry, Entry(check));
    entries += (entries.empty() ? "" : ",\n") + entry;
  }
  return "[" + entries + "]";
}

}  // namespace

Status WriteJsonReport(const DoctorReport& report, OutputStream& output) {
  TRACEDB_ASSIGN(findings, Entries(report, "finding"));
  TRACEDB_ASSIGN(notes, Entries(report, "note"));
  std::string checks;
  for (const CheckResult& check : report.checks) {
    checks += checks.empty() ? "\n{" : ",\n{";
    AppendKey(checks, "check", check.name);
    AppendKey(checks, "title", check.doc->title);
    if (!check.error.empty()) AppendKey(checks, "error", check.error);
    checks += fmt::format("\"verdict\":\"{}\"}}", Verdict(check));
  }
  return output.Write(
      fmt::format("{{\"findings\":{},\n\"notes\":{},\n\"checks\":[{}],\n"
                  "\"traces\":{}}}\n",
                  findings, notes, checks, report.traces));
}

}  // namespace tracedb
