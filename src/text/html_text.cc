#include "tracedb/text/html_text.h"

#include "tracedb/text/result_text.h"

namespace tracedb {

std::string EscapedMarks(std::string_view text) {
  std::string html;
  for (const char c : text) {
    switch (c) {
      case '&':
        html += "&amp;";
        break;
      case '<':
        html += "&lt;";
        break;
      case '>':
        html += "&gt;";
        break;
      case '"':
        html += "&quot;";
        break;
      case '\'':
        html += "&#39;";
        break;
      default:
        html += c;
    }
  }
  return html;
}

std::string EscapedHtml(std::string_view text) { return EscapedMarks(ShownText(text)); }

}  // namespace tracedb
