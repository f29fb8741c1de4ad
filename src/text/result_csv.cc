// CSV (RFC 4180, but lines end in a plain line feed unless the options say otherwise) and TSV: a
// separator and a way to write text that contains it.
#include <utility>

#include "text/formula_guard.h"
#include "tracedb/text/result_sinks.h"

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
        output_(output) {}

  Status Begin(std::span<const std::string> column_names) override {
    if (std::exchange(begun_, true)) TRACEDB_TRY(output_.Write(line_end_));
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
