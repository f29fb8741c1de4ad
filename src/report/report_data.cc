#include "report/report_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <map>
#include <set>
#include <string_view>
#include <thread>
#include <vector>

#include "report/lane_shares.h"
#include "report/query_rows.h"
#include "report/report_checks.h"
#include "report/report_result.h"
#include "report/report_sections.h"
#include "report/report_verdict.h"
#include "report/shown_scale.h"
#include "tracedb/base/run_caught.h"
#include "tracedb/doctor/doctor_checks.h"
#include "tracedb/query/run/query_run.h"
#include "tracedb/text/result_text.h"

namespace tracedb {
namespace {

// Of all sections without a bound of their own. With those that have one, the library, the page's
// own parts and the checks, a page has less than 7 MB, and of 8 ranks less than 5.
constexpr size_t kSharedBytesMax = 700'000;
constexpr int64_t kLaneCellsMax = 24'000;

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

// What the query gives, and what its header says of it: {"params":"bins=160","meaning":"...", ...}.
Result<std::string> ResultAsJson(SqliteDb& db, const QueryDoc& doc, const ReportSection& section,
                                 const Thinning& thinning, size_t bytes_max,
                                 std::vector<std::vector<RowValue>>& kept) {
  ReportResult result(doc, section.rows_max, bytes_max);
  StepSums sums(doc, result);
  KeptRows keeper(thinning.sums_steps ? static_cast<RowSink&>(sums) : result);
  TRACEDB_ASSIGN(query, PreparedQuery::Prepare(db, doc, {thinning.params, ""}));
  TRACEDB_TRY(query.Run(keeper));
  kept = std::move(keeper.rows);
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

// In the place of a result that could not be made.
std::string FailureAsJson(const QueryDoc& doc, const Error& error) {
  std::string json;
  AppendJsonText(json, doc.name);
  json += ":{";
  AppendJsonField(json, "params", "");
  AppendJsonField(json, "meaning", doc.description);
  AppendJsonField(json, "empty", doc.when_empty);
  AppendJsonField(json, "error", ShownText(error.what));
  return WithoutTags(json) + ",\"result\":{\"rows\":0,\"rows_found\":0,\"columns\":[]}}";
}

// A replay reads the whole capture, and is kept while a statement has it open: with this one open,
// all queries of a connection share it. Of several captures only the last would be kept.
class HeldReplay {
 public:
  HeldReplay(SqliteDb& db, const ShownRun& run) {
    auto held = db.Prepare(
        "SELECT s.step FROM captures c CROSS JOIN replay_steps(c.capture_id, '[]') s "
        "WHERE c.run = ?1 AND (?2 = 0 OR c.capture = ?2)");
    if (!held.ok() || (run.captures > 1 && !run.capture.has_value())) return;
    const bool is_bound =
        held.value().Bind(1, run.name).ok() && held.value().Bind(2, run.capture.value_or(0)).ok();
    // What is wrong with it the queries say themselves.
    if (!is_bound || !held.value().Step().ok()) return;
    held_ = std::move(held).value();
  }

 private:
  std::optional<SqliteStatement> held_;
};

struct Results {
  std::map<std::string_view, std::string> json;                         // by query
  std::map<std::string_view, std::vector<std::vector<RowValue>>> kept;  // first rows, of all
  std::vector<std::string> failed;                                      // "QUERY: why"
};

// Tells the person how far it is; of both threads.
class PartsBegun {
 public:
  PartsBegun(const ReportOptions& options, size_t all) : on_part_(options.on_part), all_(all) {}
  void Begin(const std::string& name) {
    if (on_part_) on_part_(name, std::min(++begun_, all_), all_);
  }

 private:
  const std::function<void(const std::string&, size_t, size_t)>& on_part_;
  const size_t all_;
  std::atomic<size_t> begun_ = 0;
};

// Those with a bound of their own, which take long, or the others. One that fails leaves the
// others; an interrupt ends them all.
Status RunSections(SqliteDb& db, const QueryCatalog& catalog, const ReportScale& scale, bool large,
                   PartsBegun& begun, Results& results) {
  size_t left = kSharedBytesMax;
  for (const ReportSection* section : SectionsOf(catalog, scale.host_only)) {
    // Two parts may show the same query.
    if ((section->bytes_max > 0) != large || results.json.contains(section->query)) continue;
    if (!IsNeeded(*section, scale)) continue;
    const QueryDoc& doc = *catalog.Find(section->query);
    begun.Begin(doc.name);
    Result<std::string> result =
        ResultAsJson(db, doc, *section, ThinningOf(doc, scale), large ? section->bytes_max : left,
                     results.kept[section->query]);
    if (!result.ok()) {
      if (!FailsAlone(result.error())) return std::move(result).error();
      results.failed.push_back(fmt::format("{}: {}", doc.name, result.error().what));
      results.json.emplace(section->query, FailureAsJson(doc, result.error()));
      continue;
    }
    left -= std::min(left, result.value().size());
    results.json.emplace(section->query, std::move(result).value());
  }
  return Done{};
}

struct LargeParts {
  Results results;
  std::string checks;
};

Status RunLarge(SqliteDb& db, const QueryCatalog& catalog, const ReportScale& scale,
                PartsBegun& begun, LargeParts& parts) {
  const HeldReplay held(db, scale.run);
  TRACEDB_TRY(RunSections(db, catalog, scale, true, begun, parts.results));
  const auto on_check = [&](const std::string& name, size_t, size_t) { begun.Begin(name); };
  TRACEDB_ASSIGN(checks, RunChecks(db, catalog, {}, on_check));
  for (const CheckResult& check : checks.checks) {
    if (check.error.empty()) continue;
    parts.results.failed.push_back(fmt::format("doctor/{}: {}", check.name, check.error));
  }
  parts.checks = WithoutTags(ChecksAsJson(checks));
  return Done{};
}

// Queries and checks.
size_t PartsOf(const QueryCatalog& catalog, const ReportScale& scale) {
  std::set<std::string_view> names;
  for (const ReportSection* section : SectionsOf(catalog, scale.host_only)) {
    names.insert(section->query);
  }
  for (const QueryDoc& doc : catalog.queries()) {
    if (doc.name.starts_with("doctor/")) names.insert(doc.name);
  }
  return names.size();
}

// Half of the work on each of two connections.
Status RunBoth(SqliteDb& db, SqliteDb& other, const QueryCatalog& catalog, const ReportScale& scale,
               PartsBegun& begun, LargeParts& parts, Results& results) {
  Status large = Done{};
  Status small = Done{};
  {
    const std::jthread beside(
        [&] { large = RunCaught([&] { return RunLarge(other, catalog, scale, begun, parts); }); });
    small = RunCaught([&] { return RunSections(db, catalog, scale, false, begun, results); });
    // No use in an end that is waited for long.
    if (!small.ok()) other.Interrupt();
  }
  TRACEDB_TRY(small);
  return large;
}

// What the page's first screen says; without it where it cannot be made.
Result<PageVerdict> FirstScreen(SqliteDb& db, const QueryCatalog& catalog,
                                const ReportOptions& options, const ReportScale& scale,
                                Results& results, std::string& lanes) {
  VerdictFacts facts;
  facts.recorded = results.kept["report/recorded"];
  facts.recommendations = results.kept["recommendations"];
  facts.late_ranks = results.kept["report/late_ranks"];
  facts.step = options.step;
  facts.host_only = scale.host_only;
  LaneShares shares;
  if (catalog.Find("report/lane_segments") != nullptr && !scale.host_only) {
    TRACEDB_ASSIGN(made, MakeLaneShares(db, catalog, scale.run, kLaneCellsMax));
    shares = std::move(made);
    lanes = shares.json;
  }
  return MakeVerdict(db, catalog, scale.run, facts, shares);
}

// As FirstScreen; a failure of its own leaves the rest of the page.
Status AddFirstScreen(SqliteDb& db, const QueryCatalog& catalog, const ReportOptions& options,
                      const ReportScale& scale, Results& results, std::string& lanes,
                      PageVerdict& verdict) {
  auto made = FirstScreen(db, catalog, options, scale, results, lanes);
  if (made.ok()) {
    verdict = std::move(made).value();
    return Done{};
  }
  if (!FailsAlone(made.error())) return std::move(made).error();
  results.failed.push_back(fmt::format("verdict: {}", made.error().what));
  return Done{};
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
  const HeldReplay held(db, run);
  PartsBegun begun(options, PartsOf(catalog, scale));
  LargeParts parts;
  Results results;
  if (options.open_another) {
    TRACEDB_ASSIGN(other, options.open_another());
    TRACEDB_TRY(RunBoth(db, other, catalog, scale, begun, parts, results));
  } else {
    TRACEDB_TRY(RunSections(db, catalog, scale, false, begun, results));
    TRACEDB_TRY(RunLarge(db, catalog, scale, begun, parts));
  }
  results.json.merge(parts.results.json);
  results.kept.merge(parts.results.kept);
  results.failed.insert(results.failed.end(), parts.results.failed.begin(),
                        parts.results.failed.end());
  std::string lanes;
  PageVerdict verdict;
  TRACEDB_TRY(AddFirstScreen(db, catalog, options, scale, results, lanes, verdict));
  std::string written;
  for (const auto& [query, result] : results.json) {
    written += (written.empty() ? "" : ",\n") + result;
  }
  std::string json = "{";
  AppendJsonField(json, "database", ShownText(db.path().filename().string()));
  AppendJsonField(json, "version", options.version);
  json =
      WithoutTags(json) +
      fmt::format(
          ",\"ranks\":{},\"host_only\":{},\n\"served\":{},\"shown\":{{\"step\":{},\"rank\":{}}},\n"
          "\"verdict\":{},\n\"lanes\":{},\n\"sections\":[{}],\n\"results\":{{{}}},\n"
          "\"checks\":{}}}\n",
          scale.ranks, scale.host_only, options.is_served, NumberOrNull(options.step),
          NumberOrNull(options.rank), VerdictAsJson(verdict), lanes.empty() ? "null" : lanes,
          SectionsAsJson(catalog, scale), written, parts.checks);
  return ReportText{std::move(json), std::move(results.failed), std::move(verdict.sentence)};
}

}  // namespace tracedb
