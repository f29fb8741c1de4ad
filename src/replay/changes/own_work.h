// Of collectives alone: what late ranks did by themselves between two of them, and took longer for
// than ranks of their role (MODEL.md, "Collectives alone").
#pragma once

#include <cstdint>
#include <set>
#include <vector>

#include "replay/changes/late_slices.h"
#include "replay/graph/replay_graph.h"
#include "tracedb/base/result.h"
#include "tracedb/base/sqlite_db.h"

namespace tracedb {

class StopWatch;

// In the steps in which they were late the own work of these ranks takes no longer than that of
// their peers. kQuery where a rank has none, and was late by more than its host.
Status EvenOwnWork(SqliteDb& db, const ReplayGraph& graph, const std::set<int64_t>& ranks,
                   const Lateness& late, StopWatch& watch, EdgeTimes& weights);

}  // namespace tracedb
