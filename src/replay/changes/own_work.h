// Of collectives alone: what late ranks did by themselves between two of them, and took longer for
// than ranks of their role (MODEL.md, "Collectives alone").
#pragma once

#include <cstdint>
#include <set>
#include <vector>

#include "replay/graph/replay_graph.h"
#include "tracedb/base/result.h"
#include "tracedb/base/sqlite_db.h"

namespace tracedb {

class StopWatch;

// In these steps the own work of these ranks takes no longer than that of their peers.
Status EvenOwnWork(SqliteDb& db, const ReplayGraph& graph, const std::set<int64_t>& ranks,
                   const std::set<int64_t>& steps, StopWatch& watch, EdgeTimes& weights);

}  // namespace tracedb
