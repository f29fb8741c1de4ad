// A table for an issue or a wiki page.
#include <utility>

#include "tracedb/text/result_sinks.h"
#include "tracedb/text/result_text.h"

namespace tracedb {
namespace {

// '<' and '`' too: "copy<float>" is else taken for HTML, and is not seen on the page.
void AppendMarkdownText(std::string& out, std::string_view text) {
  std::string lines;
  for (char c : text) {
    if (c == '\\' || c == '|' || c == '<' || c == '`' || c == '*') lines += '\\';
    lines += c;
  }
  size_t start = 0;
  for (size_t end = lines.find('\n'); end != std::string::npos; end = lines.find('\n', start)) {
    const size_t before = end > start && lines[end - 1] == '\r' ? end - 1 : end;
    out += ShownText(std::string_view(lines).substr(start, before - start));
    out += "<br>";
    start = end + 1;
  }
  out += ShownText(std::string_view(lines).substr(start));
}

class MarkdownSink : public RowSink {
 public:
  explicit MarkdownSink(OutputStream& output) : output_(output) {}

  Status Begin(std::span<const std::string> column_names) override {
    line_ = std::exchange(begun_, true) ? "\n|" : "|";
    for (const std::string& name : column_names) {
      line_ += ' ';
      AppendMarkdownText(line_, name);
      line_ += " |";
    }
    line_ += "\n|";
    for (size_t i = 0; i < column_names.size(); ++i) line_ += " --- |";
    line_ += '\n';
    return output_.Write(line_);
  }

  Status Row(std::span<const Cell> cells) override {
    line_ = "|";
    for (const Cell& cell : cells) {
      line_ += ' ';
      if (cell.type == SqlType::kText) {
        AppendMarkdownText(line_, cell.text);
      } else {
        AppendCell(line_, cell);
      }
      line_ += " |";
    }
    line_ += '\n';
    return output_.Write(line_);
  }

  Status End() override { return Done{}; }

 private:
  OutputStream& output_;
  bool begun_ = false;
  std::string line_;
};

}  // namespace

std::unique_ptr<RowSink> MakeMarkdownSink(OutputStream& output) {
  return std::make_unique<MarkdownSink>(output);
}

}  // namespace tracedb
