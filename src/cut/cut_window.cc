#include "cut/cut_window.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "cut/time_text.h"
#include "tracedb/query/run/query_database.h"

namespace tracedb {
namespace {

constexpr int64_t kAroundMarginNs = 1'000'000;  // where no --margin is given

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

Result<Interval> OfSteps(SqliteDb& db, const CutOptions& options, const CutSources& sources) {
  const auto range = ParseRange(options.steps);
  if (!range.has_value()) {
    return Error{ErrorKind::kUsage, fmt::format("--step: '{}' is no step", options.steps),
                 "write 3, or 3..5"};
  }
  TRACEDB_ASSIGN(rows, db.Prepare("SELECT trace_id, ts_ns, ts_ns + ifnull(dur_ns, 0) FROM steps "
                                  "WHERE step BETWEEN ?1 AND ?2 AND trace_id IN (" +
                                  sources.TraceIdList() + ")"));
  TRACEDB_TRY(rows.Bind(1, range->first));
  TRACEDB_TRY(rows.Bind(2, range->second));
  std::optional<Interval> window;
  for (;;) {
    TRACEDB_ASSIGN(any, rows.Step());
    if (!any) break;
    const int64_t start = sources.FromTrace(rows.Int(0), rows.Int(1));
    const int64_t end = sources.FromTrace(rows.Int(0), rows.Int(2));
    if (!window.has_value()) window = Interval{start, end};
    window->start_ns = std::min(window->start_ns, start);
    window->end_ns = std::max(window->end_ns, end);
  }
  if (window.has_value()) return *window;
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

Result<Interval> AroundRow(const SqliteStatement& row, const CutSources& sources) {
  const int ts_column = ColumnNamed(row, "ts_ns");
  TRACEDB_ASSIGN(start, IntegerIn(row, ts_column));
  int64_t end = start;
  const int dur_column = ColumnNamed(row, "dur_ns");
  if (dur_column >= 0 && row.Type(dur_column) != SqlType::kNull) {
    TRACEDB_ASSIGN(dur, IntegerIn(row, dur_column));
    end = Sum(start, std::max<int64_t>(dur, 0));
  }
  const int rank_column = ColumnNamed(row, "rank");
  if (rank_column < 0) return Interval{start, end};
  TRACEDB_ASSIGN(rank, IntegerIn(row, rank_column));
  return Interval{sources.FromTrace(rank, start), sources.FromTrace(rank, end)};
}

// The person's SQL runs on a connection of its own, on which nothing but reading is allowed.
Result<Interval> OfQuery(const CutOptions& options, const CutSources& sources,
                         const std::atomic<bool>& stop) {
  TRACEDB_ASSIGN(db, OpenTraceDatabase(options.database));
  if (options.on_open) TRACEDB_TRY(options.on_open(db));
  db.StopWhen(stop);
  db.RestrictToReading();
  auto prepared = db.Prepare(options.around);
  if (!prepared.ok()) {
    Error error = std::move(prepared).error();
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
  return AroundRow(row, sources);
}

Result<Interval> OfSlowestCollective(SqliteDb& db, const CutSources& sources, std::string& note) {
  TRACEDB_ASSIGN(row,
                 db.Prepare("SELECT first_start_ns, first_start_ns + max_wait_ns + transfer_ns, "
                            "collective, ordinal, wait_ns, last_rank, is_estimate "
                            "FROM matched_collectives WHERE max_wait_ns IS NOT NULL "
                            "AND transfer_ns IS NOT NULL "
                            "ORDER BY is_estimate, wait_ns DESC, slice_id LIMIT 1"));
  TRACEDB_ASSIGN(any, row.Step());
  if (!any) {
    return Error{ErrorKind::kInput, "--slowest-collective: there is no collective to tell it by",
                 "name a window with --start and --end"};
  }
  note = fmt::format("{} {} made its ranks wait {:.3f} ms{}", row.Text(2), row.Int(3),
                     static_cast<double>(row.Int(4)) / 1e6,
                     row.Int(6) != 0 ? " (an estimate: the other ranks are not here)"
                                     : fmt::format(", rank {} came last", row.Int(5)));
  return Interval{sources.FromAligned(row.Int(0)), sources.FromAligned(row.Int(1))};
}

}  // namespace

Result<std::optional<Interval>> ChooseWindow(SqliteDb& db, const CutOptions& options,
                                             const CutSources& sources,
                                             const std::atomic<bool>& stop, std::string& note) {
  int64_t margin_ns = 0;
  if (!options.margin.empty()) {
    const auto margin = ParseTimeText(options.margin);
    if (!margin.has_value() || !margin->has_unit) {
      return Error{ErrorKind::kUsage,
                   fmt::format("--margin: '{}' is no length of time", options.margin),
                   "write 5ms or 300us"};
    }
    margin_ns = margin->ns;
  } else if (!options.around.empty() || options.slowest_collective) {
    margin_ns = kAroundMarginNs;
  }
  const Interval span = sources.Span().value_or(Interval{});
  std::optional<Result<Interval>> chosen;
  if (!options.steps.empty()) {
    chosen = OfSteps(db, options, sources);
  } else if (!options.around.empty()) {
    chosen = OfQuery(options, sources, stop);
  } else if (options.slowest_collective) {
    chosen = OfSlowestCollective(db, sources, note);
  } else if (!options.start.empty() || !options.end.empty()) {
    chosen = Named(options, span);
  }
  if (!chosen.has_value()) return std::optional<Interval>();
  if (!chosen->ok()) return std::move(*chosen).error();
  Interval window = chosen->value();
  window.start_ns = Sum(window.start_ns, -margin_ns);
  window.end_ns = Sum(window.end_ns, margin_ns);
  return std::optional(window);
}

}  // namespace tracedb
