// From when on what happened to a rank may explain that it is late: since its step began, and since
// it was last together with the others.
#pragma once

#include <cstdint>
#include <map>
#include <utility>

#include "ranks/stalls/stall.h"
#include "tracedb/base/result.h"
#include "tracedb/base/sqlite_db.h"
#include "tracedb/schema/rank_clock.h"

namespace tracedb {

class EarliestStart {
 public:
  static Result<EarliestStart> Open(SqliteDb& db, const RankClocks& clocks);

  // By the aligned clocks. Outside any step: so many times the wait before.
  Result<int64_t> Find(const Stall& stall);
  // The same since the step before began; where that was not recorded, since its own did.
  Result<int64_t> FindSinceStepBefore(const Stall& stall);
  // By the rank's own clock; 0: the step was not recorded.
  Result<int64_t> StepStart(int64_t trace_id, int64_t step);

 private:
  EarliestStart(const RankClocks& clocks, SqliteStatement step)
      : clocks_(&clocks), step_(std::move(step)) {}

  const RankClocks* clocks_;
  SqliteStatement step_;
  std::map<std::pair<int64_t, int64_t>, int64_t> step_starts_;  // by trace and step
};

}  // namespace tracedb
