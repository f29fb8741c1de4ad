// A rank whose host comes late by many short pieces of work, each of which is nothing to name.
#pragma once

#include <cstdint>
#include <set>
#include <vector>

#include "replay/graph/replay_graph.h"

namespace tracedb {

class StopWatch;

// In these steps the short work of each of these ranks' hosts takes no longer than on the middle
// one of the others: MODEL.md, "lateness of ranks".
void EvenShortHost(const ReplayGraph& graph, const std::set<int64_t>& ranks,
                   const std::set<int64_t>& steps, StopWatch& watch, std::vector<int64_t>& weights);

}  // namespace tracedb
