#include "cut/cut_ranges.h"

#include <algorithm>
#include <limits>
#include <optional>

namespace tracedb {
namespace {

struct RowTimes {
  RowRange rows;
  int64_t start = std::numeric_limits<int64_t>::max();  // metadata alone: after its end
  int64_t end = std::numeric_limits<int64_t>::min();
};

Result<std::vector<RowTimes>> ReadTimes(SqliteDb& db, const CutSource& trace) {
  TRACEDB_ASSIGN(select, db.Prepare("SELECT id, last_id, start_ts, end_ts FROM _row_times "
                                    "WHERE id BETWEEN ?1 AND ?2 ORDER BY id"));
  TRACEDB_TRY(select.Bind(1, trace.first_row));
  TRACEDB_TRY(select.Bind(2, trace.last_row));
  std::vector<RowTimes> all;
  for (;;) {
    TRACEDB_ASSIGN(any, select.Step());
    if (!any) return all;
    RowTimes times;
    times.rows = {select.Int(0), select.Int(1)};
    const bool has_times = select.Type(2) == SqlType::kInteger;
    if (has_times) {
      times.start = select.Int(2);
      times.end = select.Int(3);
    }
    const SqlType as_start = has_times ? SqlType::kInteger : SqlType::kNull;
    const bool is_sound = select.Type(1) == SqlType::kInteger && select.Type(2) == as_start &&
                          select.Type(3) == as_start && (!has_times || times.start <= times.end);
    if (!is_sound) return std::vector<RowTimes>();
    all.push_back(times);
  }
}

// Every row of the trace is in one of them, and together they last as long as it does.
bool AreAllOf(const CutSource& trace, const std::vector<RowTimes>& all) {
  if (trace.first_row < 1) return false;
  if (all.empty() || all.front().rows.first != trace.first_row) return false;
  if (all.back().rows.last != trace.last_row) return false;
  int64_t start = std::numeric_limits<int64_t>::max();
  int64_t end = std::numeric_limits<int64_t>::min();
  for (size_t i = 0; i < all.size(); ++i) {
    if (all[i].rows.last < all[i].rows.first) return false;
    if (i > 0 && all[i].rows.first - 1 != all[i - 1].rows.last) return false;
    start = std::min(start, all[i].start);
    end = std::max(end, all[i].end);
  }
  if (trace.start_ns.has_value() && TimeInRows(trace, *trace.start_ns) < start) return false;
  return !trace.end_ns.has_value() || TimeInRows(trace, *trace.end_ns) <= end;
}

}  // namespace

std::vector<RowRange> RangesInWindow(SqliteDb& db, const CutSource& trace) {
  const std::vector<RowRange> whole = {{trace.first_row, trace.last_row}};
  if (!trace.window.has_value()) return whole;
  const auto all = ReadTimes(db, trace);
  if (!all.ok() || !AreAllOf(trace, all.value())) return whole;
  const int64_t from = TimeInRows(trace, trace.window->start_ns);
  const int64_t to = TimeInRows(trace, trace.window->end_ns);
  std::vector<RowRange> ranges;
  for (const RowTimes& times : all.value()) {
    if (times.start >= to || times.end < from) continue;
    if (!ranges.empty() && ranges.back().last == times.rows.first - 1) {
      ranges.back().last = times.rows.last;
    } else {
      ranges.push_back(times.rows);
    }
  }
  return ranges;
}

}  // namespace tracedb
