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

#include "report/report_checks.h"
#include "report/report_result.h"
#include "report/report_sections.h"
#include "tracedb/base/run_caught.h"
#include "tracedb/doctor/doctor_checks.h"
#include "tracedb/query/run/query_run.h"
#include "tracedb/text/result_text.h"

namespace tracedb {
namespace {

// Of all sections without a bound of their own. With those that have one, the library, the page's
// own parts and the checks, a page has less than 3 MB.
constexpr size_t kSharedBytesMax = 700'000;

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

Result<ReportScale> ScaleOf(SqliteDb& db, const ShownRun& run) {
  ReportScale scale;
  scale.run = run;
  // Streams are drawn for one capture alone.
  TRACEDB_ASSIGN(counted, db.Prepare("SELECT count(DISTINCT rank), "
                                     "       count(*) > 0 AND total(gpu_activities) = 0, "
                                     "       (SELECT count(*) FROM stream_uses u JOIN traces s "
                                     "        ON s.trace_id = u.trace_id WHERE s.run = ?1 "
                                     "          AND (?2 = 0 OR s.capture = ?2)) "
                                     "FROM traces WHERE run = ?1"));
  TRACEDB_TRY(counted.Bind(1, run.name));
  TRACEDB_TRY(counted.Bind(2, CaptureOf("report/timeline", run).value_or(0)));
  TRACEDB_TRY(counted.Step());
  scale.ranks = counted.Int(0);
  scale.host_only = counted.Int(1) != 0;
  scale.streams = counted.Int(2);
  return scale;
}

struct Results {
  std::map<std::string_view, std::string> json;  // by query
  std::vector<std::string> failed;               // "QUERY: why"
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
    const QueryDoc& doc = *catalog.Find(section->query);
    begun.Begin(doc.name);
    Result<std::string> result =
        ResultAsJson(db, doc, *section, ThinningOf(doc, scale), large ? section->bytes_max : left);
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

}  // namespace

Result<ReportText> ReportData(SqliteDb& db, const QueryCatalog& catalog,
                              const ReportOptions& options, const ShownRun& run) {
  TRACEDB_ASSIGN(scale, ScaleOf(db, run));
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
  results.failed.insert(results.failed.end(), parts.results.failed.begin(),
                        parts.results.failed.end());
  std::string sections;
  for (const ReportSection* section : SectionsOf(catalog, scale.host_only)) {
    sections += (sections.empty() ? "" : ",\n") +
                SectionAsJson(*section, ThinningOf(*catalog.Find(section->query), scale));
  }
  std::string written;
  for (const auto& [query, result] : results.json) {
    written += (written.empty() ? "" : ",\n") + result;
  }
  std::string json = "{";
  AppendJsonField(json, "database", ShownText(db.path().filename().string()));
  AppendJsonField(json, "version", options.version);
  json = WithoutTags(json) + fmt::format(
                                 ",\"ranks\":{},\"host_only\":{},\n\"sections\":[{}],\n"
                                 "\"results\":{{{}}},\n\"checks\":{}}}\n",
                                 scale.ranks, scale.host_only, WithoutTags(sections), written,
                                 parts.checks);
  return ReportText{std::move(json), std::move(results.failed)};
}

}  // namespace tracedb
