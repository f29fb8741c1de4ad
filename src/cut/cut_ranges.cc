#include "cut/cut_ranges.h"

#include <algorithm>
#include <limits>

#include "tracedb/schema/row_times.h"

namespace tracedb {
namespace {

// Together they last as long as the trace does.
bool LastAsLong(const CutSource& trace, const std::vector<RowTimes>& all) {
  int64_t start = std::numeric_limits<int64_t>::max();
  int64_t end = std::numeric_limits<int64_t>::min();
  for (const RowTimes& times : all) {
    start = std::min(start, times.start);
    end = std::max(end, times.end);
  }
  if (trace.start_ns.has_value() && TimeInRows(trace, *trace.start_ns) < start) return false;
  return !trace.end_ns.has_value() || TimeInRows(trace, *trace.end_ns) <= end;
}

}  // namespace

std::vector<RowRange> RangesInWindow(SqliteDb& db, const CutSource& trace) {
  const std::vector<RowRange> whole = {{trace.first_row, trace.last_row}};
  if (!trace.window.has_value()) return whole;
  const auto all = ReadRowTimes(db, trace.first_row, trace.last_row);
  if (!all.ok() || all.value().empty() || !LastAsLong(trace, all.value())) return whole;
  const int64_t from = TimeInRows(trace, trace.window->start_ns);
  const int64_t to = TimeInRows(trace, trace.window->end_ns);
  std::vector<RowRange> ranges;
  for (const RowTimes& times : all.value()) {
    if (times.start >= to || times.end < from) continue;
    if (!ranges.empty() && ranges.back().last == times.first_row - 1) {
      ranges.back().last = times.last_row;
    } else {
      ranges.push_back({times.first_row, times.last_row});
    }
  }
  return ranges;
}

}  // namespace tracedb
