#include "replay/graph/replay_lanes.h"

#include <algorithm>
#include <array>

#include "replay/graph/stop_watch.h"
#include "tracedb/base/interval.h"

namespace tracedb {
namespace {

constexpr uint32_t kEdgesAhead = 16;

using Lanes = std::array<int64_t, kReplayLanes>;

void WaitFor(const int64_t* from, int64_t weight_ns, Lanes& ready_ns) {
  if (weight_ns == kNoEdge) return;
  for (size_t lane = 0; lane < kReplayLanes; ++lane) {
    ready_ns[lane] = std::max(ready_ns[lane], SumNs(from[lane], weight_ns));
  }
}

void WaitFor(const int64_t* from, const Lanes& weights_ns, Lanes& ready_ns) {
  for (size_t lane = 0; lane < kReplayLanes; ++lane) {
    if (weights_ns[lane] == kNoEdge) continue;
    ready_ns[lane] = std::max(ready_ns[lane], SumNs(from[lane], weights_ns[lane]));
  }
}

}  // namespace

void ReplayLanes(const ReplayGraph& graph, const EdgeTimes& weights,
                 std::span<const LaneWeight> others, StopWatch* watch,
                 std::vector<int64_t>& times) {
  times.resize(graph.nodes().size() * kReplayLanes);
  auto other = others.begin();
  auto lag = graph.lags().begin();
  for (uint32_t node = 0; node < graph.nodes().size(); ++node) {
    if (watch != nullptr && watch->Asked()) return;
    const uint32_t end = graph.end_edge(node);
    Lanes ready_ns;
    ready_ns.fill(kNoEdge);
    for (uint32_t edge = graph.first_edge(node); edge < end; ++edge) {
      // The node before on a thread or stream lies as far back as all ranks do meanwhile.
      if (edge + kEdgesAhead < graph.edge_count()) {
        __builtin_prefetch(&times[graph.from(edge + kEdgesAhead) * kReplayLanes]);
      }
      const int64_t* const from = &times[graph.from(edge) * kReplayLanes];
      if (other == others.end() || other->edge != edge) {
        WaitFor(from, weights[edge], ready_ns);
        continue;
      }
      Lanes weights_ns;
      weights_ns.fill(weights[edge]);
      for (; other != others.end() && other->edge == edge; ++other) {
        weights_ns[other->lane] = other->weight_ns;
      }
      WaitFor(from, weights_ns, ready_ns);
    }
    const bool has_lag = lag != graph.lags().end() && lag->first == node;
    const int64_t lag_ns = has_lag ? (lag++)->second : 0;
    int64_t* const here = &times[node * kReplayLanes];
    for (size_t lane = 0; lane < kReplayLanes; ++lane) {
      here[lane] =
          ready_ns[lane] == kNoEdge ? graph.nodes()[node].at_ns : SumNs(ready_ns[lane], lag_ns);
    }
  }
}

}  // namespace tracedb
