#include "derive/step_finder.h"

#include <algorithm>
#include <limits>

namespace tracedb {

Result<StepFinder> StepFinder::Read(SqliteDb& db, int64_t base_ns) {
  // A capture has a handful of steps; a hostile file may have millions.
  constexpr int64_t kStepsMax = 200'000;
  StepFinder finder;
  TRACEDB_ASSIGN(rows, db.Prepare("SELECT ts + ?1, dur, step FROM _step WHERE dur > 0 "
                                  "ORDER BY ts LIMIT ?2"));
  TRACEDB_TRY(rows.Bind(1, base_ns));
  TRACEDB_TRY(rows.Bind(2, kStepsMax));
  int64_t end_max = std::numeric_limits<int64_t>::min();
  for (;;) {
    TRACEDB_ASSIGN(row, rows.Step());
    if (!row) return finder;
    const int64_t start = rows.Int(0);
    end_max = std::max(end_max, start + rows.Int(1));
    finder.spans_.push_back({start, start + rows.Int(1), rows.Int(2), end_max});
  }
}

void StepFinder::Search(int64_t ts_ns) {
  auto after = std::upper_bound(spans_.begin(), spans_.end(), ts_ns,
                                [](int64_t ts, const Span& span) { return ts < span.start_ns; });
  step_ = std::nullopt;
  from_ns_ = ts_ns;
  to_ns_ = after == spans_.end() ? std::numeric_limits<int64_t>::max() : after->start_ns;
  while (after != spans_.begin()) {
    --after;
    if (after->end_max_ns <= ts_ns) return;
    if (after->end_ns > ts_ns) {
      to_ns_ = std::min(to_ns_, after->end_ns);
      step_ = after->step;
      return;
    }
  }
}

}  // namespace tracedb
