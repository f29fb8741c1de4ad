#include "tracedb/compare/compare_runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>
#include <string_view>
#include <utility>

#include "compare/fact_differences.h"
#include "compare/kernel_rows.h"
#include "compare/log_samples.h"
#include "compare/rank_roles.h"
#include "compare/row_changes.h"
#include "compare/run_samples.h"
#include "compare/series_tests.h"
#include "compare/side_judge.h"
#include "tracedb/text/result_text.h"

namespace tracedb {
namespace {

constexpr double kPartShareMin = 1e-3;  // of the step: less of a part's change is the same

// Of what there are steps: what GPUs did, or training logs.
enum class Source { kTraces, kLogs };

using Side = std::vector<RunSamples>;

Result<Side> ReadSide(const std::vector<RunToCompare>& runs, const QueryCatalog& catalog,
                      const CompareOptions& options, Source source,
                      std::optional<int64_t> like_step) {
  Side side;
  for (const RunToCompare& run : runs) {
    TRACEDB_ASSIGN(db, run.open());
    const bool of_log = source == Source::kLogs;
    TRACEDB_ASSIGN(samples, of_log ? ReadLogRun(db, catalog, run.run, options.effect_min)
                                   : ReadRun(db, catalog, run.run, options.effect_min));
    samples.used.name = run.name;
    if (options.with_path && !of_log) TRACEDB_TRY(ReadPath(db, catalog, samples));
    if (options.with_lanes && side.empty() && !of_log) {
      TRACEDB_TRY(ReadLanes(db, catalog, like_step, samples));
    }
    if (options.with_lanes) TRACEDB_TRY(ReadLog(db, catalog, samples));
    side.push_back(std::move(samples));
  }
  return side;
}

// The runs without a step, by their names.
std::vector<std::string> EmptyOnes(const std::vector<Side>& sides) {
  std::vector<std::string> names;
  for (const Side& side : sides) {
    for (const RunSamples& run : side) {
      if (run.used.steps == 0) names.push_back(run.used.name);
    }
  }
  return names;
}

Result<std::vector<Side>> ReadSides(const std::vector<std::vector<RunToCompare>>& sides,
                                    const QueryCatalog& catalog, const CompareOptions& options,
                                    Source source) {
  std::vector<Side> read;
  for (const std::vector<RunToCompare>& runs : sides) {
    std::optional<int64_t> like_step;
    if (!read.empty()) like_step = read.front().front().used.usual_step;
    TRACEDB_ASSIGN(side, ReadSide(runs, catalog, options, source, like_step));
    read.push_back(std::move(side));
  }
  return read;
}

// Of one kind for all: a step of a GPU is not to be compared with an iteration of a log. Logs where
// a run has nothing else.
Result<std::vector<Side>> ReadAlike(const std::vector<std::vector<RunToCompare>>& sides,
                                    const QueryCatalog& catalog, const CompareOptions& options) {
  TRACEDB_ASSIGN(of_traces, ReadSides(sides, catalog, options, Source::kTraces));
  const std::vector<std::string> idle = EmptyOnes(of_traces);
  if (idle.empty()) return of_traces;
  TRACEDB_ASSIGN(of_logs, ReadSides(sides, catalog, options, Source::kLogs));
  const std::vector<std::string> logless = EmptyOnes(of_logs);
  for (const std::string& name : idle) {
    if (std::find(logless.begin(), logless.end(), name) == logless.end()) continue;
    return Error{
        ErrorKind::kInput,
        ShownText(name) +
            ": there is no GPU activity in it, and no training log with times of iterations",
        "tracedb doctor says what is missing"};
  }
  if (!logless.empty()) {
    return Error{ErrorKind::kInput,
                 fmt::format("{}: only a training log has times in it, and in {} there is none",
                             ShownText(idle.front()), ShownText(logless.front())),
                 "ingest the log of that job too, or the traces of both"};
  }
  if (options.with_path) {
    return Error{ErrorKind::kInput,
                 ShownText(idle.front()) + ": there is no GPU activity in it to replay",
                 "leave out --critical-path: training logs are compared"};
  }
  return of_logs;
}

std::vector<RunUsed> UsedOf(const Side& side) {
  std::vector<RunUsed> used;
  for (const RunSamples& samples : side) used.push_back(samples.used);
  return used;
}

// Means over the runs, as whole nanoseconds that add up to the step's, which is set.
std::vector<int64_t> PartsOf(const Side& side, int64_t& step_ns) {
  const auto count = static_cast<int64_t>(side.size());
  std::vector<int64_t> totals(kStepParts.size(), 0);
  step_ns = 0;
  for (const RunSamples& run : side) {
    step_ns += run.used.step_ns;
    for (size_t i = 0; i < totals.size(); ++i) totals[i] += run.used.parts_ns[i];
  }
  step_ns /= count;
  if (side.front().used.is_log) return totals;  // of an iteration there are none
  return MeansThatAddUp(totals, count, step_ns);
}

std::vector<double> AsReal(const std::vector<int64_t>& values) {
  return {values.begin(), values.end()};
}

std::vector<double> SpreadOf(const std::vector<RunUsed>& runs, size_t part) {
  std::vector<double> values;
  for (const RunUsed& run : runs) values.push_back(static_cast<double>(run.parts_ns[part]));
  return values;
}

void JudgeParts(const Sides& sides, const std::vector<RunUsed>& spread, Comparison& comparison) {
  const std::vector<int64_t> base_ns = PartsOf(sides.base, comparison.base_ns);
  const std::vector<int64_t> new_ns = PartsOf(sides.now, comparison.new_ns);
  std::vector<Judgement> judgements;
  std::vector<double> ps;
  for (size_t i = 0; i < kStepParts.size(); ++i) {
    if (base_ns[i] == 0 && new_ns[i] == 0) continue;
    comparison.parts.push_back({std::string(kStepParts[i]), base_ns[i], new_ns[i], {}});
    std::map<const RunSamples*, std::vector<double>> values;
    const SeriesOfRun series = [&](const RunSamples& run) {
      std::vector<double>& of_run = values[&run];
      if (of_run.empty()) of_run = AsReal(run.parts_ns[i]);
      return &of_run;
    };
    const Sides of_part{sides.base, sides.now, SpreadOf(spread, i), sides.effect_min};
    judgements.push_back(
        JudgeSides(of_part, series, kPartShareMin * static_cast<double>(comparison.base_ns)));
    ps.push_back(judgements.back().p);
  }
  const std::vector<double> adjusted = HolmAdjusted(ps);
  for (size_t i = 0; i < judgements.size(); ++i) {
    SetAdjustedP(judgements[i], adjusted[i]);
    comparison.parts[i].finding = FindingOf(judgements[i]);
  }
}

// A step is not to be compared with a recording as a whole.
Status CheckSteps(const std::vector<RunUsed>& runs) {
  const auto is_whole = [](const RunUsed& run) { return run.is_whole; };
  const auto without = std::find_if(runs.begin(), runs.end(), is_whole);
  const auto with = std::find_if_not(runs.begin(), runs.end(), is_whole);
  if (without == runs.end() || with == runs.end()) return Done{};
  return Error{ErrorKind::kInput,
               fmt::format("{}: there is no step in it, and in {} there are some",
                           ShownText(without->name), ShownText(with->name)),
               "steps are those of the profiler's step(): record both with them, or none"};
}

std::optional<int64_t> KernelTimeOf(const Side& side) {
  int64_t sum = 0;
  for (const RunSamples& run : side) {
    if (!run.used.kernel_ns.has_value()) return std::nullopt;
    sum += *run.used.kernel_ns;
  }
  return sum / static_cast<int64_t>(side.size());
}

void AlignRanks(const Sides& sides, Comparison& comparison) {
  comparison.by_role = sides.base.front().has_places && sides.now.front().has_places;
  comparison.ranks =
      FindRankChanges(sides, sides.effect_min * static_cast<double>(comparison.base_ns));
  for (const RankChange& change : comparison.ranks) {
    const bool is_both = change.base_rank.has_value() && change.new_rank.has_value();
    if (is_both && *change.base_rank != *change.new_rank) ++comparison.ranks_moved;
  }
}

void ForgetVerdicts(Comparison& comparison) {
  const auto forget = [](Finding& finding) {
    finding.verdict = Verdict::kCannotTell;
    finding.reason = "the runs are not comparable";
  };
  forget(comparison.finding);
  for (PartChange& part : comparison.parts) forget(part.finding);
  for (RowChange& row : comparison.rows) forget(row.finding);
  for (RankChange& rank : comparison.ranks) forget(rank.finding);
}

// What a lost call launched is in no operator, and the idle time before it has no cause: where
// they were, less seems to be.
void ForgetUnlaunched(Comparison& comparison) {
  if (std::none_of(comparison.base.begin(), comparison.base.end(), HasUnlaunched) &&
      std::none_of(comparison.now.begin(), comparison.now.end(), HasUnlaunched)) {
    return;
  }
  const auto forget = [](Finding& finding) {
    finding.verdict = Verdict::kCannotTell;
    finding.reason = "the launches of some GPU activities were lost";
  };
  for (PartChange& part : comparison.parts) {
    if (part.name.starts_with("idle_")) forget(part.finding);
  }
  for (RowChange& row : comparison.rows) {
    const bool holds = row.kind == "kernel" || row.kind == "collective" || row.kind == "annotation";
    if (!holds) forget(row.finding);
  }
}

// What is said of steps holds for the iterations of a log.
void SayIterations(Comparison& comparison) {
  constexpr std::string_view kSteps = "steps";
  const auto say = [kSteps](Finding& finding) {
    for (size_t at = finding.reason.find(kSteps); at != finding.reason.npos;
         at = finding.reason.find(kSteps, at)) {
      finding.reason.replace(at, kSteps.size(), "iterations");
    }
  };
  say(comparison.finding);
  for (RowChange& row : comparison.rows) say(row.finding);
}

}  // namespace

std::string_view VerdictName(Verdict verdict) {
  constexpr std::array<std::string_view, 4> kNames = {"slower", "faster", "same", "cannot tell"};
  return kNames[static_cast<size_t>(verdict)];
}

std::string_view RowInName(RowIn in) {
  constexpr std::array<std::string_view, 4> kNames = {"both", "only in base", "only in new",
                                                      "renamed"};
  return kNames[static_cast<size_t>(in)];
}

double Comparison::ChangePct() const {
  if (base_ns == 0) return 0;
  return 100.0 * static_cast<double>(new_ns - base_ns) / static_cast<double>(base_ns);
}

Status CheckApart(const std::vector<RunUsed>& runs) {
  std::map<std::string, const RunUsed*> seen;
  for (const RunUsed& run : runs) {
    for (const auto& [hash, path] : run.recordings) {
      const auto [other, is_new] = seen.emplace(hash, &run);
      if (is_new) continue;
      return Error{
          ErrorKind::kUsage,
          fmt::format("{} and {}: the same recording is in both, {}",
                      ShownText(other->second->name), ShownText(run.name), ShownText(path)),
          "name each recording once, of runs that were recorded apart"};
    }
  }
  return Done{};
}

Result<Comparison> CompareRuns(const std::vector<RunToCompare>& base,
                               const std::vector<RunToCompare>& now, const QueryCatalog& catalog,
                               const CompareOptions& options) {
  TRACEDB_ASSIGN(both, ReadAlike({base, now}, catalog, options));
  Side& base_runs = both.front();
  Side& new_runs = both.back();
  Comparison comparison;
  comparison.base = UsedOf(base_runs);
  comparison.now = UsedOf(new_runs);
  std::vector<RunUsed> all = comparison.base;
  all.insert(all.end(), comparison.now.begin(), comparison.now.end());
  TRACEDB_TRY(CheckApart(all));
  TRACEDB_TRY(CheckSteps(all));
  AlignPlaces(base_runs, new_runs);
  AlignRoles(base_runs, new_runs);
  std::vector<double> spread_ns;
  for (const RunUsed& run : options.spread) spread_ns.push_back(static_cast<double>(run.step_ns));
  const Sides sides{base_runs, new_runs, {}, options.effect_min};
  const Sides of_step{base_runs, new_runs, spread_ns, options.effect_min};
  comparison.effect_min = options.effect_min;
  comparison.between_runs = of_step.BetweenRuns();
  comparison.differences = FindDifferences(sides);
  comparison.unlike = FindUnlikeRuns(sides);
  const auto decides = [](const auto& fact) { return fact.decides; };
  comparison.comparable =
      std::none_of(comparison.differences.begin(), comparison.differences.end(), decides) &&
      std::none_of(comparison.unlike.begin(), comparison.unlike.end(), decides);
  JudgeParts(sides, options.spread, comparison);
  std::map<const RunSamples*, std::vector<double>> steps;
  const SeriesOfRun whole = [&](const RunSamples& run) {
    std::vector<double>& of_run = steps[&run];
    if (of_run.empty()) of_run = AsReal(run.steps_ns);
    return &of_run;
  };
  comparison.finding = FindingOf(JudgeSides(of_step, whole, 0));
  RowChanges changes = FindRowChanges(sides, static_cast<double>(comparison.base_ns));
  comparison.rows = std::move(changes.rows);
  comparison.rows_left_out = changes.left_out;
  comparison.base_kernel_ns = KernelTimeOf(base_runs);
  comparison.new_kernel_ns = KernelTimeOf(new_runs);
  AlignRanks(sides, comparison);
  ForgetUnlaunched(comparison);
  if (!comparison.comparable) ForgetVerdicts(comparison);
  if (comparison.IsOfLogs()) SayIterations(comparison);
  return comparison;
}

Result<std::vector<RunUsed>> MeasureRuns(const std::vector<RunToCompare>& runs,
                                         const QueryCatalog& catalog,
                                         const CompareOptions& options) {
  TRACEDB_ASSIGN(sides, ReadAlike({runs}, catalog, options));
  return UsedOf(sides.front());
}

}  // namespace tracedb
