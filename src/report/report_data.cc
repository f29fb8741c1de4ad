#include "report/report_data.h"

#include <fmt/format.h>

#include <optional>
#include <utility>
#include <vector>

#include "report/report_checks.h"
#include "report/report_doubts.h"
#include "report/report_parts.h"
#include "report/report_result.h"
#include "report/report_sections.h"
#include "report/report_verdict.h"
#include "report/shown_scale.h"
#include "tracedb/query/run/gathered_notes.h"
#include "tracedb/query/run/query_run.h"
#include "tracedb/text/result_text.h"

namespace tracedb {
namespace {

std::string NumberOrNull(const std::optional<int64_t>& number) {
  return number.has_value() ? std::to_string(*number) : "null";
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

// What the page's first screen says; without it where it cannot be made: that leaves the rest.
Result<PageVerdict> FirstScreen(SqliteDb& db, const QueryCatalog& catalog,
                                const ReportOptions& options, const ReportScale& scale,
                                ReportParts& parts) {
  const auto make = [&]() -> Result<PageVerdict> {
    VerdictFacts facts;
    facts.recorded = parts.kept["report/recorded"];
    facts.recommendations = parts.kept["recommendations"];
    facts.late_ranks = parts.kept["report/late_ranks"];
    facts.step = options.step;
    facts.host_only = scale.host_only;
    facts.straggler_steps = parts.kept["straggler_steps"];
    facts.critical_path = parts.kept["critical_path_by"];
    facts.checks = &parts.checks;
    if (!scale.is_gathered) {
      if (!parts.lanes.ok()) return parts.lanes.error();
      parts.verdict = MakeVerdict(db, catalog, scale.run, facts, parts.lanes.value());
    }
    TRACEDB_ASSIGN(verdict, std::move(parts.verdict));
    TRACEDB_TRY(AddDoubtOfClocks(db, catalog, scale.run, facts, verdict));
    return verdict;
  };
  Result<PageVerdict> made = make();
  if (made.ok() || !FailsAlone(made.error())) return made;
  parts.failed.push_back(fmt::format("verdict: {}", made.error().what));
  return PageVerdict{};
}

std::string SectionsAsJson(const QueryCatalog& catalog, const ReportScale& scale) {
  std::string sections;
  for (const ReportSection* section : SectionsOf(catalog, scale.host_only)) {
    if (section->id.empty()) continue;
    sections += (sections.empty() ? "" : ",\n") +
                SectionAsJson(*section, ThinningOf(*catalog.Find(section->query), scale));
  }
  return WithoutTags(sections);
}

}  // namespace

Result<ReportText> ReportData(SqliteDb& db, const QueryCatalog& catalog,
                              const ReportOptions& options, const ShownRun& run) {
  TRACEDB_ASSIGN(scale, ScaleOf(db, run, options));
  std::vector<SqliteDb> others;
  while (options.open_another && others.size() + 1 < options.workers) {
    TRACEDB_ASSIGN(opened, options.open_another());
    others.push_back(std::move(opened));
  }
  TRACEDB_ASSIGN(parts, RunParts(db, others, catalog, options, scale));
  TRACEDB_ASSIGN(verdict, FirstScreen(db, catalog, options, scale, parts));
  TRACEDB_ASSIGN(place, scale.is_gathered ? FirstShardPlace(db) : Result<std::string>(""));
  const std::string lanes = parts.lanes.ok() ? parts.lanes.value().json : "";
  std::string written;
  for (const auto& [query, result] : parts.json) {
    written += (written.empty() ? "" : ",\n") + result;
  }
  std::string json = "{";
  AppendJsonField(json, "database", ShownText(db.path().filename().string()));
  AppendJsonField(json, "version", options.version);
  AppendJsonField(json, "gathered", ShownText(place));
  json = WithoutTags(json) +
         fmt::format(
             ",\"ranks\":{},\"host_only\":{},\n"
             "\"served\":{},\"shown\":{{\"step\":{},\"rank\":{}}},\n"
             "\"verdict\":{},\n\"lanes\":{},\n\"sections\":[{}],\n\"results\":{{{}}},\n"
             "\"checks\":{}}}\n",
             scale.ranks, scale.host_only, options.is_served, NumberOrNull(options.step),
             NumberOrNull(options.rank), VerdictAsJson(verdict), lanes.empty() ? "null" : lanes,
             SectionsAsJson(catalog, scale), written, WithoutTags(ChecksAsJson(parts.checks)));
  return ReportText{std::move(json), std::move(parts.failed), std::move(verdict.sentence)};
}

}  // namespace tracedb
