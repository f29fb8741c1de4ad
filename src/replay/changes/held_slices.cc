#include "replay/changes/held_slices.h"

#include "replay/changes/step_ranges.h"
#include "tracedb/base/interval.h"
#include "tracedb/schema/event_tables.h"
#include "tracedb/schema/rank_clock.h"

namespace tracedb {

Result<std::optional<HeldSlice>> HeldSlices::Longest(SqliteDb& db, uint32_t trace,
                                                     const std::string& name, int64_t step) {
  auto known = known_.find({trace, name});
  if (known == known_.end()) {
    TRACEDB_ASSIGN(steps, Read(db, trace, name));
    known = known_.emplace(std::pair{trace, name}, std::move(steps)).first;
  }
  const auto longest = known->second.find(step);
  if (step == kNoStep || longest == known->second.end()) return std::optional<HeldSlice>();
  return std::optional(longest->second);
}

Result<HeldSlices::Steps> HeldSlices::Read(SqliteDb& db, uint32_t trace,
                                           const std::string& name) const {
  TRACEDB_ASSIGN(clocks, RankClocks::Read(db));
  const int64_t trace_id = rows_.traces[trace].trace_id;
  const RankClock clock = clocks.Of(trace_id);
  StepRanges recorded;
  for (const JobStep& here : rows_.steps) {
    const Call& call = rows_.calls[here.call];
    if (rows_.TraceOf(call) == trace) recorded.Add({call.start_ns, call.end_ns}, here.step);
  }
  recorded.Sort();
  Steps steps;
  for (const EventTable table : kLongSliceTables) {
    TRACEDB_ASSIGN(rows,
                   db.Prepare("SELECT s.id, s.ts + t.base_ns, s.dur FROM _track t CROSS JOIN " +
                              std::string(EventTableName(table)) +
                              " s ON s.track = t.id WHERE t.trace_id = ?1 AND s.dur >= " +
                              std::to_string(kLongSliceNs) +
                              " AND s.event_name IN (SELECT id FROM _event_name "
                              "WHERE name = ?2) "
                              "AND s.id NOT IN (SELECT id FROM _impossible_time)"));
    TRACEDB_TRY(rows.Bind(1, trace_id));
    TRACEDB_TRY(rows.Bind(2, name));
    for (;;) {
      TRACEDB_ASSIGN(any, rows.Step());
      if (!any) break;
      const HeldSlice slice{rows.Int(0), rows.Int(2)};
      const int64_t start_ns = clock.Aligned(rows.Int(1));
      recorded.ForEachAround(start_ns, [&](int64_t step) {
        HeldSlice& longest = steps.try_emplace(step, slice).first->second;
        const bool is_longer = slice.dur_ns > longest.dur_ns || (slice.dur_ns == longest.dur_ns &&
                                                                 slice.slice_id < longest.slice_id);
        if (is_longer) longest = slice;
      });
    }
  }
  return steps;
}

}  // namespace tracedb
