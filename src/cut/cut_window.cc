#include "cut/cut_window.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <utility>

#include "cut/time_text.h"
#include "tracedb/query/run/near_in_schema.h"
#include "tracedb/query/run/query_database.h"
#include "tracedb/text/number_ranges.h"

namespace tracedb {
namespace {

constexpr int64_t kAroundMarginNs = 1'000'000;  // where no --margin is given

// On the scale of the output; neither of them when everything is wanted.
struct Windows {
  std::optional<Interval> all;
  std::map<int64_t, Interval> by_capture_id;
};

Error NoTime(std::string_view option, std::string_view text) {
  return Error{ErrorKind::kUsage, fmt::format("{}: '{}' is no time", option, text),
               "write 1.25s, 300ms, 5us or 7ns; a number alone is absolute ns, as in ts_ns"};
}

int64_t Sum(int64_t a, int64_t b) {
  int64_t sum = 0;
  if (!__builtin_add_overflow(a, b, &sum)) return sum;
  return b < 0 ? std::numeric_limits<int64_t>::min() : std::numeric_limits<int64_t>::max();
}

// A time after the first event, or an absolute one.
Result<int64_t> TimeOf(std::string_view option, const std::string& text, int64_t zero_ns) {
  const auto time = ParseTimeText(text);
  if (!time.has_value()) return NoTime(option, text);
  // Nobody means the first days of 1970 where the traces are of today.
  constexpr int64_t kUnixTimeMinNs = 1'000'000'000'000'000;
  if (!time->has_unit && time->ns < kUnixTimeMinNs && zero_ns >= kUnixTimeMinNs) {
    return Error{ErrorKind::kUsage, fmt::format("{}: {} of what?", option, text),
                 fmt::format("with a unit it is counted from the first event: {}ms, {}s; without "
                             "one it is a ts_ns, and those begin at {} here",
                             text, text, zero_ns)};
  }
  return time->has_unit ? Sum(zero_ns, time->ns) : time->ns;
}

Result<Interval> Named(const CutOptions& options, const Interval& span) {
  Interval window{span.start_ns, std::numeric_limits<int64_t>::max()};
  if (!options.start.empty()) {
    TRACEDB_ASSIGN(start, TimeOf("--start", options.start, span.start_ns));
    window.start_ns = start;
  }
  if (!options.end.empty()) {
    TRACEDB_ASSIGN(end, TimeOf("--end", options.end, span.start_ns));
    window.end_ns = end;
  }
  if (window.end_ns <= window.start_ns) {
    return Error{ErrorKind::kUsage,
                 options.end.empty()
                     ? fmt::format("--start {}: this is beyond all time", options.start)
                     : fmt::format("--end {}: this is not after the start", options.end),
                 ""};
  }
  return window;
}

// The critical path of a step begins when the step before is over on all ranks, and may end on a
// GPU long after the host's step: all of it is wanted.
Status AddPaths(SqliteDb& db, const std::pair<int64_t, int64_t>& range, const CutSources& sources,
                Windows& windows) {
  for (auto& [capture_id, window] : windows.by_capture_id) {
    TRACEDB_ASSIGN(steps, db.Prepare("SELECT min(start_ns), max(end_ns) FROM "
                                     "replay_steps(?1, '[]') WHERE step BETWEEN ?2 AND ?3"));
    TRACEDB_TRY(steps.Bind(1, capture_id));
    TRACEDB_TRY(steps.Bind(2, range.first));
    TRACEDB_TRY(steps.Bind(3, range.second));
    TRACEDB_ASSIGN(any, steps.Step());
    if (!any || steps.Type(0) == SqlType::kNull) continue;
    window = window.Hull({sources.FromAligned(capture_id, steps.Int(0)),
                          sources.FromAligned(capture_id, steps.Int(1))});
  }
  return Done{};
}

// The time of the steps in each capture: between two captures other steps may lie.
Result<Windows> OfSteps(SqliteDb& db, const CutOptions& options, const CutSources& sources) {
  const auto range = ParseRange(options.steps);
  if (!range.has_value()) {
    return Error{ErrorKind::kUsage, fmt::format("--step: '{}' is no step", options.steps),
                 "write 3, or 3..5"};
  }
  TRACEDB_ASSIGN(rows, db.Prepare("SELECT s.trace_id, t.capture_id, s.ts_ns, "
                                  "s.ts_ns + ifnull(s.dur_ns, 0) FROM steps s "
                                  "JOIN _trace t ON t.trace_id = s.trace_id "
                                  "WHERE s.step BETWEEN ?1 AND ?2 AND s.trace_id IN (" +
                                  sources.TraceIdList() + ")"));
  TRACEDB_TRY(rows.Bind(1, range->first));
  TRACEDB_TRY(rows.Bind(2, range->second));
  Windows windows;
  for (;;) {
    TRACEDB_ASSIGN(any, rows.Step());
    if (!any) break;
    const int64_t capture_id = rows.Int(1);
    const Interval step{sources.FromTrace(rows.Int(0), capture_id, rows.Int(2)),
                        sources.FromTrace(rows.Int(0), capture_id, rows.Int(3))};
    const auto [at, is_new] = windows.by_capture_id.emplace(capture_id, step);
    if (!is_new) at->second = at->second.Hull(step);
  }
  if (!windows.by_capture_id.empty()) {
    if (options.critical_path) TRACEDB_TRY(AddPaths(db, *range, sources, windows));
    return windows;
  }
  TRACEDB_ASSIGN(there, db.Prepare("SELECT count(*), min(step), max(step) FROM steps WHERE "
                                   "trace_id IN (" +
                                   sources.TraceIdList() + ")"));
  TRACEDB_TRY(there.Step());
  const std::string advice =
      there.Int(0) == 0 ? "there are no steps; name a window with --start and --end"
                        : fmt::format("there are steps {} to {}", there.Int(1), there.Int(2));
  return Error{ErrorKind::kInput, fmt::format("--step {}: there is no such step", options.steps),
               advice};
}

int ColumnNamed(const SqliteStatement& row, std::string_view name) {
  for (int column = 0; column < row.ColumnCount(); ++column) {
    if (row.ColumnName(column) == name) return column;
  }
  return -1;
}

Result<int64_t> IntegerIn(const SqliteStatement& row, int column) {
  if (row.Type(column) == SqlType::kInteger) return row.Int(column);
  return Error{
      ErrorKind::kQuery,
      fmt::format("--around: {} of the first row is no whole number", row.ColumnName(column)), ""};
}

struct TraceOfRow {
  int64_t trace_id = 0;  // 0: the row does not tell
  int64_t capture_id = 0;
};

// By its trace_id, else by its rank: of several captures that in which the time lies.
Result<TraceOfRow> FindTrace(SqliteDb& db, const SqliteStatement& row, const CutSources& sources,
                             int64_t ts_ns) {
  const int trace_column = ColumnNamed(row, "trace_id");
  const int rank_column = ColumnNamed(row, "rank");
  if (trace_column < 0 && rank_column < 0) return TraceOfRow{};
  const bool by_trace = trace_column >= 0;
  TRACEDB_ASSIGN(number, IntegerIn(row, by_trace ? trace_column : rank_column));
  TRACEDB_ASSIGN(found, db.Prepare(fmt::format(
                            "SELECT trace_id, capture_id, run FROM traces WHERE {} = ?1 "
                            "ORDER BY ifnull(run = ?2, 0) DESC, "
                            "ifnull(?3 BETWEEN start_ns AND end_ns, 0) DESC, capture LIMIT 1",
                            by_trace ? "trace_id" : "rank")));
  TRACEDB_TRY(found.Bind(1, number));
  TRACEDB_TRY(found.Bind(2, std::string_view(sources.run())));
  TRACEDB_TRY(found.Bind(3, ts_ns));
  TRACEDB_ASSIGN(any, found.Step());
  if (!any) return TraceOfRow{};
  if (found.Text(2) != sources.run()) {
    return Error{ErrorKind::kInput,
                 fmt::format("--around: the first row is of run {}", found.Text(2)),
                 fmt::format("name it with --run {}", found.Text(2))};
  }
  return TraceOfRow{found.Int(0), found.Int(1)};
}

Result<Interval> AroundRow(SqliteDb& db, const SqliteStatement& row, const CutSources& sources) {
  const int ts_column = ColumnNamed(row, "ts_ns");
  TRACEDB_ASSIGN(start, IntegerIn(row, ts_column));
  int64_t end = start;
  const int dur_column = ColumnNamed(row, "dur_ns");
  if (dur_column >= 0 && row.Type(dur_column) != SqlType::kNull) {
    TRACEDB_ASSIGN(dur, IntegerIn(row, dur_column));
    end = Sum(start, std::max<int64_t>(dur, 0));
  }
  TRACEDB_ASSIGN(trace, FindTrace(db, row, sources, start));
  if (trace.trace_id == 0) return Interval{start, end};
  return Interval{sources.FromTrace(trace.trace_id, trace.capture_id, start),
                  sources.FromTrace(trace.trace_id, trace.capture_id, end)};
}

// The person's SQL runs on a connection of its own, on which nothing but reading is allowed.
Result<Interval> OfQuery(SqliteDb& own_db, const CutOptions& options, const CutSources& sources,
                         const std::atomic<bool>& stop) {
  TRACEDB_ASSIGN(db, OpenTraceDatabase(options.database));
  if (options.on_open) TRACEDB_TRY(options.on_open(db));
  db.StopWhen(stop);
  db.RestrictToReading();
  auto prepared = db.Prepare(options.around);
  if (!prepared.ok()) {
    Error error = std::move(prepared).error();
    if (std::string near = NearInSchema(error.what, options.around); !near.empty()) {
      error.advice = std::move(near);
    }
    error.what = "--around: " + error.what;
    return error;
  }
  SqliteStatement row = std::move(prepared).value();
  if (ColumnNamed(row, "ts_ns") < 0) {
    return Error{ErrorKind::kQuery, "--around: the result has no column ts_ns",
                 "write for example: --around \"SELECT ts_ns, dur_ns, rank FROM kernels ORDER BY "
                 "dur_ns DESC\""};
  }
  TRACEDB_ASSIGN(any, row.Step());
  if (!any) return Error{ErrorKind::kQuery, "--around: the result has no row", ""};
  return AroundRow(own_db, row, sources);
}

Result<Interval> OfSlowestCollective(SqliteDb& db, const CutSources& sources, std::string& note) {
  TRACEDB_ASSIGN(row,
                 db.Prepare("SELECT first_start_ns, first_start_ns + max_wait_ns + transfer_ns, "
                            "collective, ordinal, wait_ns, last_rank, is_estimate, capture_id "
                            "FROM matched_collectives WHERE max_wait_ns IS NOT NULL "
                            "AND transfer_ns IS NOT NULL AND capture_id IN "
                            "(SELECT capture_id FROM _trace WHERE trace_id IN (" +
                            sources.TraceIdList() +
                            ")) ORDER BY is_estimate, wait_ns DESC, slice_id LIMIT 1"));
  TRACEDB_ASSIGN(any, row.Step());
  if (!any) {
    return Error{ErrorKind::kInput, "--slowest-collective: there is no collective to tell it by",
                 "name a window with --start and --end"};
  }
  note = fmt::format("{} {} made its ranks wait {:.3f} ms{}", row.Text(2), row.Int(3),
                     static_cast<double>(row.Int(4)) / 1e6,
                     row.Int(6) != 0 ? " (an estimate: the other ranks are not here)"
                                     : fmt::format(", rank {} came last", row.Int(5)));
  return Interval{sources.FromAligned(row.Int(7), row.Int(0)),
                  sources.FromAligned(row.Int(7), row.Int(1))};
}

Result<int64_t> MarginOf(const CutOptions& options) {
  if (options.margin.empty()) {
    return !options.around.empty() || options.slowest_collective ? kAroundMarginNs : 0;
  }
  const auto margin = ParseTimeText(options.margin);
  if (margin.has_value() && margin->has_unit) return margin->ns;
  return Error{ErrorKind::kUsage,
               fmt::format("--margin: '{}' is no length of time", options.margin),
               "write 5ms or 300us"};
}

Result<Windows> Choose(SqliteDb& db, const CutOptions& options, const CutSources& sources,
                       const std::atomic<bool>& stop, std::string& note) {
  Windows windows;
  if (!options.steps.empty()) return OfSteps(db, options, sources);
  if (!options.around.empty()) {
    TRACEDB_ASSIGN(window, OfQuery(db, options, sources, stop));
    windows.all = window;
  } else if (options.slowest_collective) {
    TRACEDB_ASSIGN(window, OfSlowestCollective(db, sources, note));
    windows.all = window;
  } else if (!options.start.empty() || !options.end.empty()) {
    TRACEDB_ASSIGN(window, Named(options, sources.Span().value_or(Interval{})));
    windows.all = window;
  }
  return windows;
}

}  // namespace

Result<bool> SetWindow(SqliteDb& db, const CutOptions& options, CutSources& sources,
                       const std::atomic<bool>& stop, std::string& note) {
  TRACEDB_ASSIGN(margin_ns, MarginOf(options));
  TRACEDB_ASSIGN(windows, Choose(db, options, sources, stop, note));
  const bool any = windows.all.has_value() || !windows.by_capture_id.empty();
  if (!any && !options.margin.empty()) {
    return Error{ErrorKind::kUsage, "--margin: there is no window that it could widen",
                 "name one with --step, --start and --end, --around or --slowest-collective"};
  }
  const auto with_margin = [margin_ns](const Interval& window) {
    return Interval{Sum(window.start_ns, -margin_ns), Sum(window.end_ns, margin_ns)};
  };
  for (auto& [capture_id, window] : windows.by_capture_id) window = with_margin(window);
  if (windows.all.has_value()) sources.SetWindow(with_margin(*windows.all));
  if (!windows.by_capture_id.empty()) sources.SetWindows(windows.by_capture_id);
  return any;
}

}  // namespace tracedb
