// A rank that is late for a collective is late for the next as well: what put it behind before.
#pragma once

#include <cstdint>
#include <map>
#include <utility>

#include "ranks/stalls/cause_finder.h"
#include "tracedb/base/result.h"
#include "tracedb/base/sqlite_db.h"
#include "tracedb/schema/rank_clock.h"

namespace tracedb {

class CarriedFinder {
 public:
  // Reads temp.late (cause_arrivals.h).
  static Result<CarriedFinder> Open(SqliteDb& db, const RankClocks& clocks);

  // Changes `cause` where it is not clear and something earlier explains it.
  Status Find(const Stall& stall, Cause& cause);

 private:
  CarriedFinder(const RankClocks& clocks, SqliteStatement late, SqliteStatement step)
      : clocks_(&clocks), late_(std::move(late)), step_(std::move(step)) {}

  Result<int64_t> Earliest(const Stall& stall);

  const RankClocks* clocks_;
  SqliteStatement late_, step_;
  std::map<std::pair<int64_t, int64_t>, int64_t> step_starts_;  // by trace and step
};

}  // namespace tracedb
