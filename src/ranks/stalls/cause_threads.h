// Causes of many stalls on several threads, each with a connection of its own.
#pragma once

#include <atomic>
#include <functional>
#include <vector>

#include "ranks/stalls/cause_finder.h"
#include "tracedb/base/result.h"
#include "tracedb/base/sqlite_db.h"
#include "tracedb/schema/rank_clock.h"

namespace tracedb {

using StallBatch = std::vector<StallCause>;

struct CauseThreads {
  unsigned count = 1;
  const std::atomic<bool>* stop = nullptr;  // that they look at
};

// Takes batches of stalls from `next`, until it gives an empty one, and gives them to `take` with
// their causes: on the calling thread, in any order. With one `db` alone is used; else `db`
// must have changed nothing that it has not committed.
Status FindCausesOf(SqliteDb& db, const RankClocks& clocks, const CauseThreads& threads,
                    const std::function<Result<StallBatch>()>& next,
                    const std::function<Status(StallBatch&)>& take);

}  // namespace tracedb
