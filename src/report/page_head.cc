#include "tracedb/report/page_head.h"

#include <fmt/format.h>

#include "report/page_parts.h"
#include "tracedb/text/html_text.h"

namespace tracedb {

std::string PageHead(std::string_view title, std::string_view metas, std::string_view style,
                     std::string_view theme) {
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\"{}>\n<head>\n<meta charset=\"utf-8\">\n{}"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta name=\"referrer\" content=\"no-referrer\">\n"
      "<link rel=\"icon\" href=\"data:,\">\n<title>{}</title>\n<style>{}</style>\n{}</head>\n",
      theme.empty() ? "" : fmt::format(" data-theme=\"{}\"", EscapedHtml(theme)), metas,
      EscapedHtml(title), PageStyle().text,
      style.empty() ? "" : fmt::format("<style>{}</style>\n", style));
}

}  // namespace tracedb
