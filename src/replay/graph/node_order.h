// The nodes of a job's graph in the order of their times (MODEL.md, "Nodes").
#pragma once

#include <vector>

#include "replay/graph/replay_graph.h"

namespace tracedb {

// Without lags and edges.
void OrderNodes(const JobRows& rows, std::vector<Node>& nodes);

}  // namespace tracedb
