#include "tracedb/report/report_page.h"

#include <fmt/format.h>

#include "report/page_parts.h"
#include "report/report_data.h"
#include "tracedb/text/result_text.h"

namespace tracedb {
namespace {

std::string Escaped(std::string_view text) {
  std::string html;
  for (const char c : ShownText(text)) {
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
      default:
        html += c;
    }
  }
  return html;
}

}  // namespace

Status WriteReport(SqliteDb& db, const QueryCatalog& catalog, const ReportOptions& options,
                   OutputStream& output) {
  // All of it first: a report that cannot be made whole is not begun.
  TRACEDB_ASSIGN(data, ReportData(db, catalog, options));
  const std::string title = Escaped(db.path().filename().string());
  TRACEDB_TRY(output.Write(fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"{}\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta name=\"referrer\" content=\"no-referrer\">\n"
      "<link rel=\"icon\" href=\"data:,\">\n<title>{}: tracedb "
      "report</title>\n<style>{}</style>\n</head>\n<body>\n"
      "<a class=\"skip\" href=\"#main\">To the figures</a>\n"
      "<header id=\"top\"><h1>Training job: {}</h1></header>\n"
      "<nav id=\"contents\" aria-label=\"Parts of this page\"></nav>\n<main id=\"main\">"
      "<noscript><p>The charts and tables of this page are drawn by its script, which is turned "
      "off.</p></noscript></main>\n",
      ReportPolicy(), title, PageStyle().text, title)));
  TRACEDB_TRY(output.Write(
      fmt::format("<footer><p>Made by tracedb {}. Everything is in this file; nothing is loaded "
                  "from a network.</p>\n<details><summary>Charts by d3, and its licence</summary>"
                  "<pre>{}</pre></details></footer>\n",
                  Escaped(options.version), Escaped(ChartLibraryLicence()))));
  TRACEDB_TRY(output.Write("<script type=\"application/json\" id=\"data\">"));
  TRACEDB_TRY(output.Write(data));
  TRACEDB_TRY(output.Write("</script>\n<script>"));
  TRACEDB_TRY(output.Write(ChartLibrary().text));
  TRACEDB_TRY(output.Write("</script>\n<script>"));
  TRACEDB_TRY(output.Write(PageScript().text));
  return output.Write("</script>\n</body>\n</html>\n");
}

}  // namespace tracedb
