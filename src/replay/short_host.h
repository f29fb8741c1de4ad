// A rank whose host comes late by many short pieces of work, each of which is nothing to name.
#pragma once

#include <cstdint>
#include <set>
#include <vector>

#include "replay/replay_graph.h"

namespace tracedb {

class StopWatch;

// In these steps the short work of the rank's host takes no longer than on the other ranks on
// average: MODEL.md, "a rank's lateness".
void EvenShortHost(const ReplayGraph& graph, int64_t rank, const std::set<int64_t>& steps,
                   StopWatch& watch, std::vector<int64_t>& weights);

}  // namespace tracedb
