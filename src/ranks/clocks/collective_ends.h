// The ends of the collectives of a capture, as differences between ranks.
#pragma once

#include <vector>

#include "ranks/clocks/clock_solve.h"
#include "ranks/clocks/end_differences.h"
#include "tracedb/base/result.h"
#include "tracedb/base/sqlite_db.h"

namespace tracedb {

// The ranks of a capture, sorted.
Result<std::vector<RankHost>> ReadRankHosts(SqliteDb& db, int64_t capture_id);

// Of a group with very many collectives an even share is read, the same on all ranks.
Result<std::vector<RankPair>> ReadEndDifferences(SqliteDb& db, int64_t capture_id,
                                                 const std::vector<RankHost>& ranks);

}  // namespace tracedb
