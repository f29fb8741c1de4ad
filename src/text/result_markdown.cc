// A table for an issue or a wiki page.
#include <cctype>
#include <utility>

#include "tracedb/text/markdown_text.h"
#include "tracedb/text/result_sinks.h"
#include "tracedb/text/result_text.h"

namespace tracedb {
namespace {

void AppendMarkdownText(std::string& out, std::string_view text) {
  const std::string lines = EscapedMarkdown(text);
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

std::string EscapedMarkdown(std::string_view text) {
  const auto is_word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; };
  std::string escaped;
  for (size_t i = 0; i < text.size(); ++i) {
    const char before = i > 0 ? text[i - 1] : ' ';
    const char after = i + 1 < text.size() ? text[i + 1] : ' ';
    const char c = text[i];
    const bool is_mark = std::string_view("\\|<`*~$").find(c) != std::string_view::npos;
    const bool ends_link_text = c == ']' && after == '(';
    const bool begins_entity = c == '&' && (after == '#' || is_word(after));
    const bool begins_emphasis = c == '_' && !is_word(before);
    if (is_mark || ends_link_text || begins_entity || begins_emphasis) escaped += '\\';
    escaped += c;
  }
  return escaped;
}

std::unique_ptr<RowSink> MakeMarkdownSink(OutputStream& output) {
  return std::make_unique<MarkdownSink>(output);
}

}  // namespace tracedb
