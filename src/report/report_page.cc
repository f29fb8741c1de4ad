#include "tracedb/report/report_page.h"

#include <fmt/format.h>

#include "report/page_parts.h"
#include "report/report_data.h"
#include "report/shown_run.h"
#include "tracedb/query/run/gathered_notes.h"
#include "tracedb/report/page_head.h"
#include "tracedb/text/html_text.h"

namespace tracedb {

Result<std::vector<std::string>> WriteReport(SqliteDb& db, const QueryCatalog& catalog,
                                             const ReportOptions& options, OutputStream& output) {
  // All of it first: a report that cannot be made whole is not begun.
  TRACEDB_ASSIGN(run, ChooseRun(db, options));
  TRACEDB_ASSIGN(data, ReportData(db, catalog, options, run));
  TRACEDB_ASSIGN(missing, MissingRanksNote(db));
  const std::string about = AboutRun(run);
  const std::string name = db.path().filename().string();
  const std::string title = options.title.empty() ? name : options.title;
  TRACEDB_TRY(output.Write(
      PageHead(title + ": tracedb report",
               fmt::format("<meta http-equiv=\"Content-Security-Policy\" content=\"{}\">\n",
                           ReportPolicy(options.is_served)),
               "", options.theme)));
  TRACEDB_TRY(output.Write(fmt::format(
      "<body class=\"report\">\n"
      "<a class=\"skip\" href=\"#main\">To the figures</a>\n"
      "<header id=\"top\"><h1>{}</h1>{}{}<p id=\"verdict\">{}</p></header>\n"
      "<nav id=\"contents\" aria-label=\"Parts of this page\"></nav>\n<main id=\"main\">"
      "<noscript><p>The charts and tables of this page are drawn by its script, which is turned "
      "off.</p></noscript></main>\n",
      EscapedHtml(options.title.empty() ? "Training job: " + name : title),
      about.empty() ? "" : "<p>" + EscapedHtml(about) + "</p>",
      missing.empty() ? "" : "<p id=\"missing\" class=\"missing\">" + EscapedHtml(missing) + "</p>",
      EscapedHtml(data.verdict))));
  TRACEDB_TRY(output.Write(
      fmt::format("<footer><p>Made by tracedb {}. Everything is in this file; nothing is loaded "
                  "from a network.</p>\n<details><summary>Charts by d3, and its licence</summary>"
                  "<pre>{}</pre></details></footer>\n",
                  EscapedHtml(options.version), EscapedHtml(ChartLibraryLicence()))));
  TRACEDB_TRY(output.Write("<script type=\"application/json\" id=\"data\">"));
  TRACEDB_TRY(output.Write(data.json));
  TRACEDB_TRY(output.Write("</script>\n<script>"));
  TRACEDB_TRY(output.Write(ChartLibrary().text));
  TRACEDB_TRY(output.Write("</script>\n<script>"));
  TRACEDB_TRY(output.Write(PageScript().text));
  TRACEDB_TRY(output.Write("</script>\n</body>\n</html>\n"));
  return std::move(data.failed);
}

}  // namespace tracedb
