// CSV (RFC 4180, but lines end in a plain line feed unless the options say otherwise) and TSV: a
// separator and a way to write text that contains it.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "text/formula_guard.h"
#include "tracedb/text/result_sinks.h"
#include "tracedb/text/result_text.h"

namespace tracedb {
namespace {

void AppendCsvText(std::string& out, std::string_view text) {
  // NULL is nothing at all, so an empty text must be seen.
  if (!text.empty() && text.find_first_of(",\"\r\n") == std::string_view::npos) {
    out += text;
    return;
  }
  out += '"';
  for (char c : text) {
    if (c == '"') out += '"';
    out += c;
  }
  out += '"';
}

void AppendTsvText(std::string& out, std::string_view text) {
  for (char c : text) {
    switch (c) {
      case '\t':
        out += "\\t";
        break;
      case '\n':
        out += "\\n";
        break;
      case '\r':
        out += "\\r";
        break;
      case '\\':
        out += "\\\\";
        break;
      default:
        out += c;
    }
  }
}

// Columns whose names say that they are worked out from whole nanoseconds or bytes. Others may be
// what a file said, and come back bit for bit.
bool IsWorkedOut(std::string_view column) {
  constexpr std::array<std::string_view, 7> kUnits = {"_ms",    "_us",   "_pct", "gbps",
                                                      "tflops", "gflop", "mbyte"};
  return std::any_of(kUnits.begin(), kUnits.end(),
                     [column](std::string_view unit) { return column.ends_with(unit); });
}

// 0.30000000000000004 -> 0.3: nine digits after the point (of ms: a thousandth of a nanosecond),
// and no more than the 15 that a double is sure of and spreadsheets keep.
void AppendWorkedOut(std::string& out, double real) {
  const double size = std::fabs(real);
  const size_t begin = out.size();
  AppendReal(out, real);
  if (!(size < 1e15)) return;
  const size_t decimals = size < 1e6 ? 9 : size < 1e10 ? 5 : 0;
  const std::string_view shortest = std::string_view(out).substr(begin);
  const size_t point = shortest.find('.');
  const bool has_power = shortest.find('e') != shortest.npos;
  const bool is_short = point == shortest.npos || shortest.size() - point - 1 <= decimals;
  if (is_short && !has_power) return;  // nearly all are
  out.resize(begin);
  fmt::format_to(std::back_inserter(out), "{:.{}f}", real, decimals);
  if (decimals > 0) {
    out.resize(out.find_last_not_of('0') + 1);
    if (out.back() == '.') out.pop_back();
  }
  if (std::string_view(out).substr(begin) == "-0") out.erase(begin, 1);
}

// Of more digits a spreadsheet makes zeros.
bool IsLong(const Cell& cell) {
  constexpr int64_t kFifteenDigits = 999'999'999'999'999;
  return cell.type == SqlType::kInteger &&
         (cell.integer > kFifteenDigits || cell.integer < -kFifteenDigits);
}

class SeparatedSink : public RowSink {
 public:
  using AppendText = void (*)(std::string& out, std::string_view text);

  SeparatedSink(char separator, AppendText append_text, std::string_view line_end,
                const SinkOptions& options, OutputStream& output)
      : separator_(separator),
        append_text_(append_text),
        line_end_(line_end),
        header_(options.header),
        safe_text_(options.safe_text),
        long_as_text_(options.long_as_text),
        output_(output) {}

  Status Begin(std::span<const std::string> column_names) override {
    if (std::exchange(begun_, true)) TRACEDB_TRY(output_.Write(line_end_));
    worked_out_.clear();
    for (const std::string& name : column_names) worked_out_.push_back(IsWorkedOut(name));
    if (!header_) return Done{};
    line_.clear();
    for (size_t i = 0; i < column_names.size(); ++i) {
      if (i > 0) line_ += separator_;
      AddText(column_names[i]);
    }
    line_ += line_end_;
    return output_.Write(line_);
  }

  Status Row(std::span<const Cell> cells) override {
    line_.clear();
    for (size_t i = 0; i < cells.size(); ++i) {
      if (i > 0) line_ += separator_;
      if (cells[i].type == SqlType::kText) {
        AddText(cells[i].text);
      } else if (cells[i].type == SqlType::kReal && worked_out_[i]) {
        AppendWorkedOut(line_, cells[i].real);
      } else {
        if (long_as_text_ && IsLong(cells[i])) line_ += '\'';
        AppendCell(line_, cells[i]);
      }
    }
    line_ += line_end_;
    return output_.Write(line_);
  }

  Status End() override { return Done{}; }

 private:
  void AddText(std::string_view text) {
    if (!safe_text_) return append_text_(line_, text);
    safe_.clear();
    AppendGuarded(safe_, text);
    append_text_(line_, safe_);
  }

  const char separator_;
  const AppendText append_text_;
  const std::string_view line_end_;
  const bool header_;
  const bool safe_text_;
  const bool long_as_text_;
  OutputStream& output_;
  bool begun_ = false;
  std::vector<bool> worked_out_;  // by column
  std::string line_;
  std::string safe_;
};

}  // namespace

std::unique_ptr<RowSink> MakeCsvSink(const SinkOptions& options, OutputStream& output) {
  return std::make_unique<SeparatedSink>(',', AppendCsvText, options.crlf ? "\r\n" : "\n", options,
                                         output);
}

std::unique_ptr<RowSink> MakeTsvSink(const SinkOptions& options, OutputStream& output) {
  return std::make_unique<SeparatedSink>('\t', AppendTsvText, "\n", options, output);
}

}  // namespace tracedb
