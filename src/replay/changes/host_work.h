// Hosts of late ranks that did the same as those of others and took longer for it, whatever held
// them: a slice, several, many short pieces, or another thread.
#pragma once

#include <cstdint>
#include <set>
#include <vector>

#include "replay/changes/activity_names.h"
#include "replay/graph/replay_graph.h"

namespace tracedb {

class StopWatch;

// In these steps the work of these ranks' hosts takes no longer than that of the others: MODEL.md,
// "lateness of ranks".
void EvenHostWork(const ReplayGraph& graph, const ActivityNames& names,
                  const std::set<int64_t>& ranks, const std::set<int64_t>& steps, StopWatch& watch,
                  std::vector<int64_t>& weights);

}  // namespace tracedb
