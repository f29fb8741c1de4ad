// A rank whose host comes late without a slice of the launching threads to name: by many short
// pieces of work, or by what another thread did meanwhile.
#pragma once

#include <cstdint>
#include <set>
#include <vector>

#include "replay/graph/replay_graph.h"

namespace tracedb {

class StopWatch;

// In these steps the short work of each of these ranks' hosts takes no longer than on the middle
// one of the others, and so does the long work: MODEL.md, "lateness of ranks".
void EvenHostWork(const ReplayGraph& graph, const std::set<int64_t>& ranks,
                  const std::set<int64_t>& steps, StopWatch& watch, std::vector<int64_t>& weights);

}  // namespace tracedb
