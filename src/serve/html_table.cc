#include "serve/html_table.h"

#include <fmt/format.h>

#include "tracedb/text/html_text.h"
#include "tracedb/text/result_sinks.h"
#include "tracedb/text/result_text.h"

namespace tracedb {
namespace {

constexpr size_t kCellWidthMax = 60;
constexpr size_t kTitleBytesMax = 1000;

std::string TextCell(std::string_view text) {
  // Cut before it is made visible: a text may be a megabyte.
  std::string shown = ShownText(text.substr(0, kTitleBytesMax));
  if (text.size() <= kTitleBytesMax && DisplayWidth(shown) <= kCellWidthMax) {
    return fmt::format("<td>{}</td>", EscapedMarks(shown));
  }
  return fmt::format("<td title=\"{}\">{}</td>", EscapedMarks(shown),
                     EscapedMarks(CutToWidth(shown + "…", kCellWidthMax)));
}

}  // namespace

std::string HtmlParagraphs(std::string_view text) {
  std::string html = "<p>";
  bool in_code = false;
  for (size_t at = 0; at < text.size(); ++at) {
    if (text.substr(at, 2) == "\n\n") {
      html += in_code ? "</code></p><p>" : "</p><p>";
      in_code = false;
      ++at;
    } else if (text[at] == '`') {
      html += in_code ? "</code>" : "<code>";
      in_code = !in_code;
    } else {
      html += text[at] == '\n' ? " " : EscapedMarks(text.substr(at, 1));
    }
  }
  return html + (in_code ? "</code></p>" : "</p>");
}

Status HtmlTable::Caption(std::string_view text) {
  caption_ = fmt::format("<caption>{}</caption>", EscapedHtml(ShownText(text)));
  return Done{};
}

Status HtmlTable::Begin(std::span<const std::string> column_names) {
  html_ += "<div class=\"scroll\"><table>" + caption_ + "<thead><tr>";
  caption_.clear();
  for (const std::string& name : column_names) {
    html_ += fmt::format("<th>{}</th>", EscapedHtml(name));
  }
  html_ += "</tr></thead><tbody>\n";
  return Done{};
}

Status HtmlTable::Row(std::span<const Cell> cells) {
  html_ += "<tr>";
  for (const Cell& cell : cells) {
    if (cell.type == SqlType::kText || cell.type == SqlType::kBlob) {
      html_ += TextCell(cell.text);
      continue;
    }
    html_ += "<td class=\"n\">";
    AppendCell(html_, cell);
    html_ += "</td>";
  }
  html_ += "</tr>\n";
  ++rows_;
  return Done{};
}

Status HtmlTable::End() {
  html_ += "</tbody></table></div>\n";
  return Done{};
}

}  // namespace tracedb
