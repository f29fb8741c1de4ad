#include "cut/cut_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "cut/time_text.h"

namespace tracedb {
namespace {

using RankRanges = std::vector<std::pair<int64_t, int64_t>>;

Error BadRanks(std::string_view text) {
  return Error{ErrorKind::kUsage, fmt::format("--rank: '{}' names no ranks", text),
               "write 3, or 0,3, or 0..7"};
}

bool IsIn(const RankRanges& ranges, int64_t rank) {
  return std::any_of(ranges.begin(), ranges.end(), [rank](const auto& range) {
    return range.first <= rank && rank <= range.second;
  });
}

Result<std::string> RanksThereAre(SqliteDb& db) {
  TRACEDB_ASSIGN(row, db.Prepare("SELECT count(DISTINCT rank), min(rank), max(rank) FROM _trace"));
  TRACEDB_TRY(row.Step());
  const int64_t count = row.Int(0);
  if (count == 1) return fmt::format("it has rank {}", row.Int(1));
  return fmt::format("it has {} ranks from {} to {}", count, row.Int(1), row.Int(2));
}

}  // namespace

int64_t TimeInRows(const CutSource& trace, int64_t ts_ns) {
  int64_t ts;
  if (!__builtin_sub_overflow(ts_ns, trace.base_ns, &ts)) return ts;
  return ts_ns < 0 ? std::numeric_limits<int64_t>::min() : std::numeric_limits<int64_t>::max();
}

Result<RankRanges> ParseRanks(std::string_view text) {
  RankRanges ranges;
  for (std::string_view left = text; !left.empty();) {
    const size_t comma = std::min(left.find(','), left.size());
    const auto range = ParseRange(left.substr(0, comma));
    if (!range.has_value()) return BadRanks(text);
    ranges.push_back(*range);
    left.remove_prefix(comma);
    if (left.empty()) break;
    left.remove_prefix(1);
    if (left.empty()) return BadRanks(text);
  }
  return ranges;
}

Result<CutSources> CutSources::Read(SqliteDb& db, const std::string& ranks) {
  TRACEDB_ASSIGN(ranges, ParseRanks(ranks));
  CutSources sources;
  TRACEDB_ASSIGN(clocks, RankClocks::Read(db));
  sources.clocks_ = std::move(clocks);
  TRACEDB_ASSIGN(
      rows,
      db.Prepare("SELECT trace_id, rank, first_row, last_row, ifnull((SELECT base_ns FROM "
                 "_track t WHERE t.id BETWEEN first_text AND last_text LIMIT 1), 0), "
                 "ifnull(base_time_ns, 0), start_ns, end_ns FROM _trace ORDER BY rank, trace_id"));
  bool any_trace = false;
  for (;;) {
    TRACEDB_ASSIGN(any, rows.Step());
    if (!any) break;
    any_trace = true;
    if (!ranges.empty() && !IsIn(ranges, rows.Int(1))) continue;
    CutSource trace;
    trace.trace_id = rows.Int(0);
    trace.rank = rows.Int(1);
    trace.first_row = rows.Int(2);
    trace.last_row = rows.Int(3);
    trace.base_ns = rows.Int(4);
    trace.file_base_ns = rows.Int(5);
    if (rows.Type(6) == SqlType::kInteger) trace.start_ns = rows.Int(6);
    if (rows.Type(7) == SqlType::kInteger) trace.end_ns = rows.Int(7);
    sources.traces_.push_back(trace);
  }
  if (!any_trace) {
    return Error{ErrorKind::kInput, "there is no trace in the database",
                 "add one with: tracedb ingest FILE..."};
  }
  if (sources.traces_.empty()) {
    TRACEDB_ASSIGN(there, RanksThereAre(db));
    return Error{ErrorKind::kInput, fmt::format("--rank {}: the database has no such rank", ranks),
                 std::move(there)};
  }
  sources.output_base_ns_ = std::numeric_limits<int64_t>::max();
  for (const CutSource& trace : sources.traces_) {
    sources.output_base_ns_ = std::min(sources.output_base_ns_, trace.file_base_ns);
  }
  return sources;
}

std::string CutSources::TraceIdList() const {
  std::string list;
  for (const CutSource& trace : traces_) {
    list += fmt::format("{}{}", list.empty() ? "" : ",", trace.trace_id);
  }
  return list;
}

int64_t CutSources::OutputTime(const CutSource& trace, int64_t ts_ns) const {
  return HasManyRanks() ? clocks_.Of(trace.trace_id).Aligned(ts_ns) : ts_ns;
}

int64_t CutSources::FromAligned(int64_t aligned_ns) const {
  return HasManyRanks() ? aligned_ns : clocks_.Of(traces_.front().trace_id).Own(aligned_ns);
}

int64_t CutSources::FromTrace(int64_t trace_id, int64_t ts_ns) const {
  if (!HasManyTraces() && trace_id == traces_.front().trace_id) return ts_ns;
  return FromAligned(clocks_.Of(trace_id).Aligned(ts_ns));
}

std::optional<Interval> CutSources::Span() const {
  std::optional<Interval> span;
  for (const CutSource& trace : traces_) {
    if (!trace.start_ns.has_value() || !trace.end_ns.has_value()) continue;
    const int64_t start = OutputTime(trace, *trace.start_ns);
    const int64_t end = OutputTime(trace, *trace.end_ns);
    if (!span.has_value()) span = Interval{start, end};
    span->start_ns = std::min(span->start_ns, start);
    span->end_ns = std::max(span->end_ns, end);
  }
  return span;
}

void CutSources::SetWindow(const Interval& window) {
  for (CutSource& trace : traces_) {
    trace.window = window;
    if (!HasManyRanks()) continue;
    trace.window->start_ns = clocks_.Of(trace.trace_id).Own(window.start_ns);
    trace.window->end_ns = clocks_.Of(trace.trace_id).Own(window.end_ns);
  }
}

}  // namespace tracedb
