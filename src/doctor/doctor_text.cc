#include "tracedb/doctor/doctor_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "query/doc/doc_words.h"
#include "tracedb/text/result_sink.h"
#include "tracedb/text/result_text.h"
#include "tracedb/text/same_runs.h"

namespace tracedb {
namespace {

constexpr size_t kRowsShownMax = 8;
constexpr size_t kTextWidthMax = 60;  // of a value, but not of a path: its end says most
constexpr size_t kLineWidth = 96;
constexpr std::string_view kIndent = "  ";

std::string Counted(size_t number, std::string_view thing) {
  return fmt::format("{} {}{}", number, thing, number == 1 ? "" : "s");
}

// Where all rows say the same severity, the block's first word says it.
bool IsShown(const CheckResult& check, size_t column) {
  if (check.doc->columns[column].name != "severity") return true;
  return std::any_of(check.rows.begin(), check.rows.end(), [&](const auto& row) {
    return row[column].text != check.rows[0][column].text;
  });
}

Result<std::string> Table(const CheckResult& check, int width) {
  StringOutput output;
  SinkOptions options;
  options.table.width = width > 0 ? std::max(1, width - static_cast<int>(kIndent.size())) : 0;
  options.table.others = "--format json has them";
  if (!check.doc->lead.empty()) options.table.lead = WordsOf("run, " + check.doc->lead);
  const auto table = MakeSink(Format::kTable, options, output);
  SameRuns sink(*table);
  std::vector<std::string> names;
  std::vector<size_t> places;
  for (size_t i = 0; i < check.doc->columns.size(); ++i) {
    if (!IsShown(check, i)) continue;
    names.push_back(check.doc->columns[i].name);
    places.push_back(i);
  }
  TRACEDB_TRY(sink.Begin(names));
  for (size_t row = 0; row < std::min(check.rows.size(), kRowsShownMax); ++row) {
    std::vector<std::string> texts(places.size());  // stay where they are while cells view them
    std::vector<Cell> cells;
    for (size_t i = 0; i < places.size(); ++i) {
      const FoundValue& value = check.rows[row][places[i]];
      texts[i] = names[i].ends_with("path") ? value.text : CutToWidth(value.text, kTextWidthMax);
      cells.push_back({value.type, value.integer, value.real, texts[i]});
    }
    TRACEDB_TRY(sink.Row(cells));
  }
  TRACEDB_TRY(sink.End());
  TRACEDB_TRY(output.Flush());
  return output.text();
}

void AppendIndented(std::string& out, std::string_view text) {
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    out += kIndent;
    out += text.substr(0, end);
    out += '\n';
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

// A paragraph that begins with `label`, in lines of that many characters.
void AppendParagraph(std::string& out, std::string_view label, std::string_view text,
                     size_t width) {
  std::string line = fmt::format("{}{}", kIndent, label);
  while (!text.empty()) {
    const size_t end = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (DisplayWidth(line) + 1 + DisplayWidth(word) > width) {
      out += line + '\n';
      line = kIndent;
      line += word;
    } else {
      line += ' ';
      line += word;
    }
  }
  out += line + '\n';
}

Status WriteBlock(const CheckResult& check, int width, OutputStream& output) {
  std::string block = fmt::format("{}: {} ({})\n\n", check.is_finding ? "finding" : "note",
                                  check.doc->title, check.name);
  TRACEDB_ASSIGN(table, Table(check, width));
  AppendIndented(block, table);
  if (check.rows_found > kRowsShownMax) {
    block += fmt::format("{}and {} more\n", kIndent, check.rows_found - kRowsShownMax);
  }
  block += '\n';
  const size_t line = width > 0 ? std::min(kLineWidth, static_cast<size_t>(width)) : kLineWidth;
  AppendParagraph(block, "It means:", check.doc->meaning, line);
  AppendParagraph(block, "To do:", check.doc->advice, line);
  block += '\n';
  return output.Write(block);
}

std::string LastLine(const DoctorReport& report) {
  const size_t findings = report.Findings();
  const size_t notes = report.Notes();
  const std::string where =
      fmt::format(" in {} ({})", Counted(static_cast<size_t>(report.traces), "trace"),
                  Counted(report.checks.size(), "check"));
  const std::string failed =
      report.Failed() == 0 ? "\n" : "; " + Counted(report.Failed(), "check") + " failed\n";
  if (findings == 0) {
    return "nothing suspicious" + where + (notes == 0 ? "" : "; " + Counted(notes, "note")) +
           failed;
  }
  return Counted(findings, "finding") + (notes == 0 ? "" : " and " + Counted(notes, "note")) +
         where + failed;
}

}  // namespace

Status WriteTextReport(const DoctorReport& report, int width, OutputStream& output) {
  for (const bool findings : {true, false}) {
    for (const CheckResult& check : report.checks) {
      if (check.rows_found == 0 || check.is_finding != findings) continue;
      TRACEDB_TRY(WriteBlock(check, width, output));
    }
  }
  for (const CheckResult& check : report.checks) {
    if (check.error.empty()) continue;
    TRACEDB_TRY(output.Write(fmt::format("failed: {} ({})\n\n{}{}\n\n", check.doc->title,
                                         check.name, kIndent, ShownText(check.error))));
  }
  return output.Write(LastLine(report));
}

}  // namespace tracedb
