// Whom a late rank is compared with.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "replay/graph/job_rows.h"
#include "tracedb/base/result.h"
#include "tracedb/base/sqlite_db.h"

namespace tracedb {

struct LatePeers {
  std::vector<uint32_t> traces;
  bool do_the_same;  // what none of them does is more than its share
};

// By trace of a late rank. Ranks of the same stage do the same; where a rank is alone in its stage,
// or nobody knows which stage it is of, it can be compared with others only by what they do as
// well.
Result<std::vector<std::pair<uint32_t, LatePeers>>> PeersOfLate(SqliteDb& db, const JobRows& rows,
                                                                const std::set<int64_t>& ranks);

// Those peers that are not late, where they do the same; who has none is not in it. In order.
Result<std::map<uint32_t, std::vector<uint32_t>>> PeersOnTime(SqliteDb& db, const JobRows& rows,
                                                              const std::set<int64_t>& ranks);

}  // namespace tracedb
