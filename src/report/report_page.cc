#include "tracedb/report/report_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "query/result_text.h"
#include "report/page_parts.h"
#include "report/report_checks.h"
#include "report/report_result.h"
#include "report/report_sections.h"
#include "tracedb/doctor/doctor_checks.h"
#include "tracedb/query/query_run.h"

namespace tracedb {
namespace {

// With the library, the page's own parts and the checks it makes less than 3 MB.
constexpr size_t kResultsBytesMax = 2'200'000;

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

std::string SectionAsJson(const ReportSection& section, const Thinning& thinning) {
  std::string json = "{";
  AppendJsonField(json, "id", section.id);
  AppendJsonField(json, "query", section.query);
  AppendJsonField(json, "title", section.title);
  AppendJsonField(json, "chart", section.chart);
  AppendJsonField(json, "about", section.about);
  AppendJsonField(json, "thinned", thinning.note);
  return json + "}";
}

// What the query gives, and what its header says of it: {"params":"bins=160","meaning":"...", ...}.
Result<std::string> ResultAsJson(SqliteDb& db, const QueryDoc& doc, const ReportSection& section,
                                 const Thinning& thinning, size_t bytes_max) {
  ReportResult result(doc, section.rows_max, bytes_max);
  StepSums sums(doc, result);
  TRACEDB_ASSIGN(query, PreparedQuery::Prepare(db, doc, {thinning.params, ""}));
  TRACEDB_TRY(query.Run(thinning.sums_steps ? static_cast<RowSink&>(sums) : result));
  std::string params;
  for (const std::string& param : thinning.params) params += (params.empty() ? "" : " ") + param;
  std::string json;
  AppendJsonText(json, doc.name);
  json += ":{";
  AppendJsonField(json, "params", params);
  AppendJsonField(json, "meaning", doc.description);
  AppendJsonField(json, "empty", doc.when_empty);
  return WithoutTags(json) + ",\"result\":" + WithoutTags(result.Json()) + "}";
}

Result<ReportScale> ScaleOf(SqliteDb& db) {
  ReportScale scale;
  TRACEDB_ASSIGN(ranks, db.Integer("SELECT count(DISTINCT rank) FROM trace"));
  TRACEDB_ASSIGN(streams, db.Integer("SELECT count(*) FROM stream_use"));
  scale.ranks = ranks;
  scale.streams = streams;
  return scale;
}

// All that the page shows, as one JSON object.
Result<std::string> DataAsJson(SqliteDb& db, const QueryCatalog& catalog,
                               std::string_view version) {
  TRACEDB_ASSIGN(scale, ScaleOf(db));
  const std::vector<const ReportSection*> shown = SectionsOf(catalog);
  std::string sections;
  std::string results;
  std::set<std::string_view> run;  // two parts may show the same query
  for (const ReportSection* section : shown) {
    const Thinning thinning = ThinningOf(section->query, scale);
    sections += (sections.empty() ? "" : ",\n") + SectionAsJson(*section, thinning);
    if (!run.insert(section->query).second) continue;
    const size_t left = kResultsBytesMax - std::min(results.size(), kResultsBytesMax);
    TRACEDB_ASSIGN(result,
                   ResultAsJson(db, *catalog.Find(section->query), *section, thinning, left));
    results += (results.empty() ? "" : ",\n") + result;
  }
  TRACEDB_ASSIGN(checks, RunChecks(db, catalog));
  std::string json = "{";
  AppendJsonField(json, "database", ShownText(db.path().filename().string()));
  AppendJsonField(json, "version", version);
  return json + fmt::format(
                    ",\"ranks\":{},\n\"sections\":[{}],\n\"results\":{{{}}},\n"
                    "\"checks\":{}}}\n",
                    scale.ranks, sections, results, ChecksAsJson(checks));
}

}  // namespace

Status WriteReport(SqliteDb& db, const QueryCatalog& catalog, std::string_view version,
                   OutputStream& output) {
  // All of it first: a report that cannot be made whole is not begun.
  TRACEDB_ASSIGN(data, DataAsJson(db, catalog, version));
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
                  Escaped(version), Escaped(ChartLibraryLicence()))));
  TRACEDB_TRY(output.Write("<script type=\"application/json\" id=\"data\">"));
  TRACEDB_TRY(output.Write(WithoutTags(data)));
  TRACEDB_TRY(output.Write("</script>\n<script>"));
  TRACEDB_TRY(output.Write(ChartLibrary().text));
  TRACEDB_TRY(output.Write("</script>\n<script>"));
  TRACEDB_TRY(output.Write(PageScript().text));
  return output.Write("</script>\n</body>\n</html>\n");
}

}  // namespace tracedb
