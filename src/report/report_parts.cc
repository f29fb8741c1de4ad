#include "report/report_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <thread>
#include <utility>

#include "report/report_result.h"
#include "report/report_verdict_summaries.h"
#include "tracedb/base/run_caught.h"
#include "tracedb/query/run/gathered_notes.h"
#include "tracedb/query/run/query_run.h"
#include "tracedb/text/result_text.h"

namespace tracedb {
namespace {

// Of all sections without a bound of their own. With those that have one, the library, the page's
// own parts and the checks, a page has less than 7 MB, and of 8 ranks less than 5.
constexpr size_t kSharedBytesMax = 700'000;
constexpr int64_t kLaneCellsMax = 24'000;

// What the query gives, and what its header says of it: {"params":"bins=160","meaning":"...", ...}.
std::string ResultAsJson(const QueryDoc& doc, const Thinning& thinning, const ReportResult& result,
                         size_t bytes_max) {
  std::string params;
  for (const std::string& param : thinning.params) params += (params.empty() ? "" : " ") + param;
  std::string json;
  AppendJsonText(json, doc.name);
  json += ":{";
  AppendJsonField(json, "params", params);
  AppendJsonField(json, "meaning", doc.description);
  AppendJsonField(json, "empty", doc.when_empty);
  return WithoutTags(json) + ",\"result\":" + WithoutTags(result.Json(bytes_max)) + "}";
}

// In the place of a result that could not be made: why, or that only the ranks' own databases have
// what it is about.
std::string FailureAsJson(const QueryDoc& doc, const Error& error) {
  const bool is_elsewhere = error.what.find(kGatheredFromSummaries) != std::string::npos;
  std::string json;
  AppendJsonText(json, doc.name);
  json += ":{";
  AppendJsonField(json, "params", "");
  AppendJsonField(json, "meaning", doc.description);
  AppendJsonField(json, "empty", doc.when_empty);
  AppendJsonField(json, is_elsewhere ? "elsewhere" : "error", ShownText(error.what));
  return WithoutTags(json) + ",\"result\":{\"rows\":0,\"rows_found\":0,\"columns\":[]}}";
}

// One section on its way. Two parts of a page may show the same query, which is asked once.
struct SectionPart {
  const ReportSection* section;
  const QueryDoc* doc;
  std::string json;
  std::vector<std::vector<RowValue>> kept;
  std::optional<Error> error;
  std::unique_ptr<ReportResult> result;  // until it is known how many bytes it may have
};

class PartsRun {
 public:
  PartsRun(const QueryCatalog& catalog, const ReportOptions& options, const ReportScale& scale)
      : catalog_(catalog), options_(options), scale_(scale) {
    std::set<std::string_view> seen;
    for (const ReportSection* section : SectionsOf(catalog, scale.host_only)) {
      const QueryDoc* doc = catalog.Find(section->query);
      if (!seen.insert(section->query).second) continue;
      ++parts_count_;
      if (IsNeeded(*section, scale)) sections_.push_back({section, doc, "", {}, {}, {}});
    }
    for (const QueryDoc& doc : catalog.queries()) {
      if (doc.name.starts_with("doctor/")) ++parts_count_;
    }
    PutInOrder();
  }

  Result<ReportParts> Run(SqliteDb& db, std::span<SqliteDb> others) {
    TRACEDB_TRY(RunAll(db, others));
    KeepToSharedBytes();
    return Gathered();
  }

 private:
  using Task = std::function<Status(SqliteDb&)>;
  struct Queue {
    std::vector<Task> tasks;
    std::atomic<size_t> next = 0;
  };

  // What takes longest comes first, so that all workers end at about the same time.
  void PutInOrder() {
    const auto add_sections = [&](Queue& queue, bool replay, bool takes_long) {
      for (SectionPart& part : sections_) {
        const bool is_replay = part.doc->sql.find("replay_") != std::string::npos;
        if (HasLanes() && IsOfGaps(part)) continue;
        if (scale_.is_gathered && IsOfSummaryVerdict(part)) continue;
        if (is_replay != replay || (!replay && TakesLong(part) != takes_long)) continue;
        queue.tasks.emplace_back([this, &part](SqliteDb& db) { return RunSection(db, part); });
      }
    };
    add_sections(replays_, true, false);
    if (scale_.is_gathered) {
      replays_.tasks.emplace_back([this](SqliteDb& db) { return RunVerdictOfSummaries(db); });
    }
    if (HasLanes()) tasks_.tasks.emplace_back([this](SqliteDb& db) { return RunLanes(db); });
    tasks_.tasks.emplace_back([this](SqliteDb& db) { return RunDoctor(db); });
    add_sections(tasks_, false, true);
    add_sections(tasks_, false, false);
  }

  // Charts over time, and what goes through every change of memory.
  static bool TakesLong(const SectionPart& part) {
    return part.section->bytes_max > 0 ||
           part.doc->sql.find("JOIN memory_events") != std::string::npos;
  }

  static Status TakeAll(SqliteDb& db, Queue& queue) {
    const size_t all = queue.tasks.size();
    for (size_t i = queue.next++; i < all; i = queue.next++) {
      const Status done = queue.tasks[i](db);
      if (done.ok()) continue;
      queue.next = all;
      return done;
    }
    return Done{};
  }

  Status RunAll(SqliteDb& db, std::span<SqliteDb> others) {
    std::vector<Status> beside(others.size(), Done{});
    Status here = Done{};
    {
      std::vector<std::jthread> threads;
      for (size_t i = 0; i < others.size(); ++i) {
        threads.emplace_back(
            [&, i] { beside[i] = RunCaught([&] { return TakeAll(others[i], tasks_); }); });
      }
      here = RunCaught([&]() -> Status {
        TRACEDB_TRY(TakeAll(db, replays_));
        return TakeAll(db, tasks_);
      });
      // No use in an end that is waited for long.
      if (!here.ok()) {
        tasks_.next = tasks_.tasks.size();
        for (SqliteDb& other : others) other.Interrupt();
      }
    }
    TRACEDB_TRY(here);
    for (const Status& done : beside) TRACEDB_TRY(done);
    return Done{};
  }

  // Tells the person how far it is; of all threads.
  void Begin(const std::string& name) {
    if (options_.on_part) options_.on_part(name, std::min(++begun_, parts_count_), parts_count_);
  }

  Status RunSection(SqliteDb& db, SectionPart& part) {
    Begin(part.doc->name);
    const Thinning thinning = ThinningOf(*part.doc, scale_);
    return Fill(part, thinning, [&](RowSink& rows) -> Status {
      TRACEDB_ASSIGN(query, PreparedQuery::Prepare(db, *part.doc, {thinning.params, ""}));
      TRACEDB_TRY(query.Run(rows));
      return Done{};
    });
  }

  static size_t BytesMax(const SectionPart& part) {
    return part.section->bytes_max > 0 ? part.section->bytes_max : kSharedBytesMax;
  }

  // `ask` has the query's rows handed over.
  static Status Fill(SectionPart& part, const Thinning& thinning,
                     const std::function<Status(RowSink&)>& ask) {
    part.result = std::make_unique<ReportResult>(*part.doc, part.section->rows_max, BytesMax(part));
    StepSums sums(*part.doc, *part.result);
    KeptRows keeper(thinning.sums_steps ? static_cast<RowSink&>(sums) : *part.result);
    if (Status asked = ask(keeper); !asked.ok()) {
      part.result.reset();
      if (!FailsAlone(asked.error())) return asked;
      part.json = FailureAsJson(*part.doc, asked.error());
      part.error = asked.error();
      return Done{};
    }
    part.kept = std::move(keeper.rows);
    part.json = ResultAsJson(*part.doc, thinning, *part.result, BytesMax(part));
    if (part.section->bytes_max > 0) part.result.reset();
    return Done{};
  }

  Status RunDoctor(SqliteDb& db) {
    const auto on_check = [&](const std::string& name, size_t, size_t) { Begin(name); };
    TRACEDB_ASSIGN(checks, RunChecks(db, catalog_, {}, on_check));
    parts_.checks = std::move(checks);
    for (const CheckResult& check : parts_.checks.checks) {
      if (check.error.empty()) continue;
      failed_checks_.push_back(fmt::format("doctor/{}: {}", check.name, check.error));
    }
    return Done{};
  }

  bool HasLanes() const {
    return catalog_.Find("report/lane_segments") != nullptr && !scale_.host_only;
  }

  Status RunLanes(SqliteDb& db) {
    parts_.lanes = MakeLanes(db);
    if (parts_.lanes.ok() || FailsAlone(parts_.lanes.error())) return Done{};
    return parts_.lanes.error();
  }

  // With the part of the page that shows the longest of the gaps: to find them takes longest.
  Result<LaneShares> MakeLanes(SqliteDb& db) {
    Result<LaneGaps> gaps = LaneGaps{};
    const auto read = [&](RowSink* first) -> Status {
      gaps = ReadLaneGaps(db, catalog_, scale_.run, first);
      return gaps.ok() ? Status(Done{}) : Status(gaps.error());
    };
    const auto shown = std::find_if(sections_.begin(), sections_.end(), IsOfGaps);
    if (shown == sections_.end()) {
      TRACEDB_TRY(read(nullptr));
    } else {
      Begin(shown->doc->name);
      TRACEDB_TRY(Fill(*shown, ThinningOf(*shown->doc, scale_),
                       [&](RowSink& rows) { return read(&rows); }));
      if (!gaps.ok()) return std::move(gaps).error();
    }
    return MakeLaneShares(db, catalog_, scale_.run, gaps.value(), kLaneCellsMax);
  }

  // It replays the step of the rank that the others waited for longest, once that is known.
  Status RunVerdictOfSummaries(SqliteDb& db) {
    VerdictFacts facts;
    facts.step = options_.step;
    facts.host_only = scale_.host_only;
    for (SectionPart& part : sections_) {
      if (!IsOfSummaryVerdict(part)) continue;
      TRACEDB_TRY(RunSection(db, part));
      (part.section->query == "report/recorded" ? facts.recorded : facts.straggler_steps) =
          part.kept;
    }
    parts_.verdict = VerdictOfSummaries(db, catalog_, facts);
    if (parts_.verdict.ok() || FailsAlone(parts_.verdict.error())) return Done{};
    return parts_.verdict.error();
  }

  static bool IsOfSummaryVerdict(const SectionPart& part) {
    return part.section->query == "report/recorded" || part.section->query == "straggler_steps";
  }

  static bool IsOfGaps(const SectionPart& part) { return part.section->query == "gpu_gaps"; }

  // Those without a bound of their own have each all that they share. Of one that had less left the
  // last rows are left out.
  void KeepToSharedBytes() {
    size_t left = kSharedBytesMax;
    for (SectionPart& part : sections_) {
      if (part.result == nullptr) continue;
      if (part.json.size() > left) {
        part.json = ResultAsJson(*part.doc, ThinningOf(*part.doc, scale_), *part.result, left);
      }
      part.result.reset();
      left -= std::min(left, part.json.size());
    }
  }

  ReportParts Gathered() {
    std::vector<std::string> large;
    for (SectionPart& part : sections_) {
      const std::string_view query = part.section->query;
      parts_.json.emplace(query, std::move(part.json));
      parts_.kept.emplace(query, std::move(part.kept));
      if (!part.error.has_value()) continue;
      (part.section->bytes_max > 0 ? large : parts_.failed)
          .push_back(fmt::format("{}: {}", query, part.error->what));
    }
    parts_.failed.insert(parts_.failed.end(), large.begin(), large.end());
    parts_.failed.insert(parts_.failed.end(), failed_checks_.begin(), failed_checks_.end());
    return std::move(parts_);
  }

  const QueryCatalog& catalog_;
  const ReportOptions& options_;
  const ReportScale& scale_;
  std::vector<SectionPart> sections_;  // in the page's order
  Queue replays_;
  Queue tasks_;
  size_t parts_count_ = 0;  // sections and checks
  std::atomic<size_t> begun_ = 0;
  std::vector<std::string> failed_checks_;
  ReportParts parts_;
};

}  // namespace

Result<ReportParts> RunParts(SqliteDb& db, std::span<SqliteDb> others, const QueryCatalog& catalog,
                             const ReportOptions& options, const ReportScale& scale) {
  return PartsRun(catalog, options, scale).Run(db, others);
}

}  // namespace tracedb
