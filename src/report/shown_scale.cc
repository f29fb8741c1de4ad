#include "report/shown_scale.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "tracedb/query/run/gathered_notes.h"

namespace tracedb {
namespace {

constexpr int64_t kSlicesMax = 95'000;
constexpr int64_t kPathStepsMax = 8;  // of more, the rows of the last would not fit the page

struct StepWindow {
  std::optional<int64_t> step;
  double start_ms = 0;
  double end_ms = 0;
  double share = 1;  // of the capture
};

int64_t CaptureNumber(const ShownRun& run) { return CaptureOf("report/timeline", run).value_or(0); }

// The longest step, or the one that was asked for, over all ranks; else the capture's first part.
Result<StepWindow> WindowOf(SqliteDb& db, const ShownRun& run, const ReportOptions& options) {
  TRACEDB_ASSIGN(
      found, db.Prepare("SELECT s.step, (min(s.ts_ns) - min(t.run_start_ns)) / 1e6, "
                        "  (max(s.end_ns) - min(t.run_start_ns)) / 1e6, max(s.dur_ns) AS dur_ns "
                        "FROM steps s JOIN traces t ON t.trace_id = s.trace_id "
                        "WHERE t.run = ?1 AND (?2 = 0 OR t.capture = ?2) AND s.dur_ns >= 0 "
                        "  AND (?3 IS NULL OR s.step = ?3) "
                        "GROUP BY s.step ORDER BY dur_ns DESC, s.step LIMIT 1"));
  TRACEDB_TRY(found.Bind(1, run.name));
  TRACEDB_TRY(found.Bind(2, CaptureNumber(run)));
  TRACEDB_TRY(found.BindOptional(3, options.step));
  TRACEDB_ASSIGN(is_there, found.Step());
  TRACEDB_ASSIGN(length, db.Prepare("SELECT (min(start_ns) - min(run_start_ns)) / 1e6, "
                                    "(max(end_ns) - min(run_start_ns)) / 1e6 "
                                    "FROM traces WHERE run = ?1 AND (?2 = 0 OR capture = ?2)"));
  TRACEDB_TRY(length.Bind(1, run.name));
  TRACEDB_TRY(length.Bind(2, CaptureNumber(run)));
  TRACEDB_TRY(length.Step());
  const double all_ms = std::max(length.Real(1) - length.Real(0), 1e-6);
  if (!is_there) return StepWindow{std::nullopt, length.Real(0), length.Real(1), 1};
  const double step_ms = found.Real(2) - found.Real(1);
  return StepWindow{found.Int(0), found.Real(1), found.Real(2), std::min(step_ms / all_ms, 1.0)};
}

struct RankSlices {
  int64_t rank = 0;
  int64_t slices = 0;
};

// Of all ranks, the one of interest first.
Result<std::vector<RankSlices>> RanksOf(SqliteDb& db, const ShownRun& run,
                                        const ReportOptions& options) {
  TRACEDB_ASSIGN(
      rows,
      db.Prepare(
          "WITH rooted AS (SELECT c.root_rank, sum(c.wait_ns) AS wait_ns FROM collective_causes c "
          "  JOIN traces t ON t.trace_id = c.trace_id "
          "  WHERE t.run = ?1 AND (?2 = 0 OR t.capture = ?2) AND c.root_rank IS NOT NULL "
          "  GROUP BY c.root_rank ORDER BY wait_ns DESC, c.root_rank LIMIT 1) "
          "SELECT rank, sum(slices) FROM traces WHERE run = ?1 AND (?2 = 0 OR capture = ?2) "
          "GROUP BY rank "
          "ORDER BY rank IS NOT coalesce(?3, (SELECT root_rank FROM rooted)), rank"));
  TRACEDB_TRY(rows.Bind(1, run.name));
  TRACEDB_TRY(rows.Bind(2, CaptureNumber(run)));
  TRACEDB_TRY(rows.BindOptional(3, options.rank));
  std::vector<RankSlices> ranks;
  for (;;) {
    TRACEDB_ASSIGN(any, rows.Step());
    if (!any) return ranks;
    ranks.push_back({rows.Int(0), rows.Int(1)});
  }
}

Status ChooseExact(SqliteDb& db, const ShownRun& run, const ReportOptions& options,
                   ReportScale& scale) {
  TRACEDB_ASSIGN(ranks, RanksOf(db, run, options));
  if (!ranks.empty()) scale.focus = ranks.front().rank;
  int64_t slices = 0;
  for (const RankSlices& one : ranks) slices += one.slices;
  if (slices <= kSlicesMax) return Done{};
  TRACEDB_ASSIGN(window, WindowOf(db, run, options));
  double left = kSlicesMax;
  std::string list;
  size_t shown = 0;
  for (const RankSlices& one : ranks) {
    const double needed = static_cast<double>(one.slices) * window.share;
    if (shown > 0 && needed > left) break;
    left -= needed;
    list += fmt::format("{}{}", list.empty() ? "" : ",", one.rank);
    ++shown;
  }
  scale.exact = {"rank=" + list, fmt::format("from_ms={:.6f}", window.start_ms),
                 fmt::format("to_ms={:.6f}", window.end_ms)};
  scale.exact_note = fmt::format(
      "Exact for {} of {} rank{}{}; the rest is thinned: tracedb report --step N --rank N chooses "
      "another, and the server's page (tracedb serve-csv, /report) loads what is looked at.",
      shown, ranks.size(), ranks.size() == 1 ? "" : "s",
      window.step.has_value() ? fmt::format(" in step {}", *window.step) : "");
  return Done{};
}

// Of many steps those of which the page says what their critical path is made of: the longest, and
// the one that was asked for. Of all captures that critical_path_by is asked for.
Status ChoosePathSteps(SqliteDb& db, const ShownRun& run, const ReportOptions& options,
                       ReportScale& scale) {
  TRACEDB_ASSIGN(rows,
                 db.Prepare("WITH step AS (SELECT s.step, max(s.dur_ns) AS dur_ns FROM steps s "
                            "  JOIN traces t ON t.trace_id = s.trace_id "
                            "  WHERE t.run = ?1 AND (?2 = 0 OR t.capture = ?2) AND s.dur_ns >= 0 "
                            "  GROUP BY s.step) "
                            "SELECT step, (SELECT count(*) FROM step) FROM step "
                            "ORDER BY step IS NOT ?3, dur_ns DESC, step LIMIT ?4"));
  TRACEDB_TRY(rows.Bind(1, run.name));
  TRACEDB_TRY(rows.Bind(2, CaptureOf("critical_path_by", run).value_or(0)));
  TRACEDB_TRY(rows.BindOptional(3, options.step));
  TRACEDB_TRY(rows.Bind(4, kPathStepsMax));
  std::vector<int64_t> steps;
  int64_t all = 0;
  for (;;) {
    TRACEDB_ASSIGN(any, rows.Step());
    if (!any) break;
    steps.push_back(rows.Int(0));
    all = rows.Int(1);
  }
  if (all <= kPathStepsMax) return Done{};
  std::sort(steps.begin(), steps.end());
  scale.path_steps = fmt::format("step={}", fmt::join(steps, ","));
  scale.path_note = fmt::format("Of the {} longest of {} steps.", steps.size(), all);
  return Done{};
}

}  // namespace

Result<ReportScale> ScaleOf(SqliteDb& db, const ShownRun& run, const ReportOptions& options) {
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
  TRACEDB_TRY(counted.Bind(2, CaptureNumber(run)));
  TRACEDB_TRY(counted.Step());
  scale.ranks = counted.Int(0);
  scale.host_only = counted.Int(1) != 0;
  scale.streams = counted.Int(2);
  TRACEDB_ASSIGN(is_gathered, IsGathered(db));
  scale.is_gathered = is_gathered;
  TRACEDB_TRY(ChooseExact(db, run, options, scale));
  TRACEDB_TRY(ChoosePathSteps(db, run, options, scale));
  return scale;
}

}  // namespace tracedb
