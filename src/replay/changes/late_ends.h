// Hosts of late ranks in the ends of steps, after the last collective: a checkpoint is saved there,
// or a step evaluated, and nobody waits for it before the next step.
#pragma once

#include <cstdint>
#include <set>

#include "replay/changes/late_slices.h"
#include "replay/graph/replay_graph.h"
#include "tracedb/base/result.h"
#include "tracedb/base/sqlite_db.h"

namespace tracedb {

class StopWatch;

// In the ends of steps in which they may have lost time, and not in late.late_in, these ranks'
// hosts work no longer than those of their peers: MODEL.md, "lateness of ranks".
Status EvenEnds(SqliteDb& db, const ReplayGraph& graph, const std::set<int64_t>& ranks,
                const Lateness& late, StopWatch& watch, EdgeTimes& weights);

}  // namespace tracedb
