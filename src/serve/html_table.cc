#include "serve/html_table.h"

#include <fmt/format.h>

#include "tracedb/text/html_text.h"
#include "tracedb/text/result_columns.h"
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
  names_.assign(column_names.begin(), column_names.end());
  is_number_.assign(names_.size(), false);
  names_at_ = html_.size();
  html_ += "</tr></thead><tbody>\n";
  return Done{};
}

Status HtmlTable::Row(std::span<const Cell> cells) {
  html_ += "<tr>";
  for (size_t i = 0; i < cells.size(); ++i) {
    const Cell& cell = cells[i];
    if (cell.type == SqlType::kText || cell.type == SqlType::kBlob) {
      html_ += TextCell(cell.text);
      continue;
    }
    if (cell.type != SqlType::kNull) is_number_[i] = true;
    html_ += fmt::format("<td class=\"n\">{}</td>", ShowCell(cell, names_[i]).text);
  }
  html_ += "</tr>\n";
  ++rows_;
  return Done{};
}

Status HtmlTable::End() {
  std::string names;
  for (size_t i = 0; i < names_.size(); ++i) {
    names +=
        fmt::format("<th{}>{}</th>", is_number_[i] ? " class=\"n\"" : "", EscapedHtml(names_[i]));
  }
  html_.insert(names_at_, names);
  html_ += "</tbody></table></div>\n";
  return Done{};
}

}  // namespace tracedb
