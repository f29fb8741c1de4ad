// CSV (RFC 4180, but lines end in a plain line feed unless the options say otherwise) and TSV: a
// separator and a way to write text that contains it.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
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

// How many digits after the point a nanosecond has in a column of that name.
int DecimalsOf(std::string_view column_name) {
  if (column_name.ends_with("_ms")) return 6;
  if (column_name.ends_with("_us")) return 3;
  return column_name.ends_with("_s") ? 9 : 0;
}

// 69.6969696969697 -> 69.696969697: what was reckoned from counts, bytes and nanoseconds means
// nothing beyond; a time keeps its nanoseconds however long it is.
void AppendMeantDigits(std::string& out, double real, int decimals) {
  constexpr int kDigits = 12;
  constexpr int kDigitsOfDouble = 15;
  const double size = std::fabs(real);
  const int before_point = size < 1 ? 0 : static_cast<int>(std::log10(size)) + 1;
  const int digits = std::max(kDigits, before_point + decimals);
  if (!std::isfinite(real) || digits > kDigitsOfDouble) return AppendReal(out, real);
  fmt::format_to(std::back_inserter(out), "{:.{}g}", real, digits);
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
        meant_digits_(options.meant_digits),
        output_(output) {}

  Status Begin(std::span<const std::string> column_names) override {
    if (std::exchange(begun_, true)) TRACEDB_TRY(output_.Write(line_end_));
    decimals_.clear();
    for (const std::string& name : column_names) decimals_.push_back(DecimalsOf(name));
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
      } else if (cells[i].type == SqlType::kReal && meant_digits_) {
        AppendMeantDigits(line_, cells[i].real, decimals_[i]);
      } else {
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
  const bool meant_digits_;
  std::vector<int> decimals_;
  OutputStream& output_;
  bool begun_ = false;
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
