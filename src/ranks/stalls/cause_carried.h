// A rank that is late for a collective is late for the next as well: what put it behind before.
#pragma once

#include <utility>

#include "ranks/stalls/cause_earliest.h"
#include "ranks/stalls/stall.h"
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
  CarriedFinder(SqliteStatement late, EarliestStart earliest)
      : late_(std::move(late)), earliest_(std::move(earliest)) {}

  SqliteStatement late_;
  EarliestStart earliest_;
};

}  // namespace tracedb
