// Several replays of a graph at once, which differ in few of its edges.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "replay/graph/edge_times.h"
#include "replay/graph/replay_graph.h"

namespace tracedb {

class StopWatch;

inline constexpr size_t kReplayLanes = 8;

// What an edge weighs in one of the replays.
struct LaneWeight {
  int64_t weight_ns;
  uint32_t edge;
  uint32_t lane;
};

// Puts into `times` when each node would happen, as ReplayGraph::Replay has it: kReplayLanes times
// a node, those of a node side by side. Edges weigh `weights`, but for `others`, which come in the
// order of edges. What a watch has stopped is worth nothing.
void ReplayLanes(const ReplayGraph& graph, const EdgeTimes& weights,
                 std::span<const LaneWeight> others, StopWatch* watch, std::vector<int64_t>& times);

}  // namespace tracedb
