// The steps of a replay, and the critical path of each.
#pragma once

#include <deque>
#include <vector>

#include "replay/replay_graph.h"
#include "tracedb/replay/job_replay.h"

namespace tracedb {

std::vector<ReplayedStep> StepsOf(const ReplayGraph& graph, const std::vector<int64_t>& times);

std::deque<PathPiece> PathOf(const ReplayGraph& graph, const std::vector<int64_t>& weights,
                             const std::vector<int64_t>& times);

}  // namespace tracedb
