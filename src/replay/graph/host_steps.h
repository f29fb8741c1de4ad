// Which step the host of each rank is in, and which edges are its work.
#pragma once

#include <cstdint>
#include <vector>

#include "replay/graph/replay_graph.h"

namespace tracedb {

// The step that each trace is in, as nodes of hosts pass by in the order of time: that of its last
// step-begin.
class CurrentSteps {
 public:
  explicit CurrentSteps(const ReplayGraph& graph)
      : graph_(graph), steps_(graph.rows().traces.size(), kNoStep) {}

  int64_t At(uint32_t node) {
    int64_t& step = steps_[graph_.TraceOf(node)];
    const Node& here = graph_.nodes()[node];
    if (here.kind == NodeKind::kStepBegin) step = graph_.rows().StepOfCall(here.owner);
    return step;
  }

 private:
  const ReplayGraph& graph_;
  std::vector<int64_t> steps_;
};

inline bool IsHost(EdgeKind kind) { return kind == EdgeKind::kHost || kind == EdgeKind::kHandover; }

}  // namespace tracedb
