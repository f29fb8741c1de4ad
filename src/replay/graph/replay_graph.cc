#include "replay/graph/replay_graph.h"

#include <algorithm>
#include <utility>

#include "replay/graph/stop_watch.h"
#include "tracedb/base/interval.h"

namespace tracedb {

ReplayGraph ReplayGraph::Of(std::vector<Node> nodes, std::vector<uint32_t> from,
                            std::vector<EdgeKind> kinds, EdgeTimes weights) {
  ReplayGraph graph;
  graph.nodes_ = std::move(nodes);
  graph.from_ = std::move(from);
  graph.kinds_ = std::move(kinds);
  graph.weights_ = std::move(weights);
  return graph;
}

std::vector<int64_t> ReplayGraph::Replay(const EdgeTimes& weights, StopWatch* watch) const {
  std::vector<int64_t> times;
  Replay(weights, watch, times);
  return times;
}

void ReplayGraph::Replay(const EdgeTimes& weights, StopWatch* watch,
                         std::vector<int64_t>& times) const {
  times.resize(nodes_.size());
  auto lag = lags_.begin();
  for (uint32_t node = 0; node < nodes_.size(); ++node) {
    if (watch != nullptr && watch->Asked()) return;
    const uint32_t end = end_edge(node);
    int64_t ready_ns = kNoEdge;
    for (uint32_t edge = first_edge(node); edge < end; ++edge) {
      const int64_t weight_ns = weights[edge];
      if (weight_ns == kNoEdge) continue;
      ready_ns = std::max(ready_ns, SumNs(times[from_[edge]], weight_ns));
    }
    const bool has_lag = lag != lags_.end() && lag->first == node;
    const int64_t lag_ns = has_lag ? (lag++)->second : 0;
    times[node] = ready_ns == kNoEdge ? nodes_[node].at_ns : SumNs(ready_ns, lag_ns);
  }
}

uint32_t ReplayGraph::BindingEdge(uint32_t node, const EdgeTimes& weights,
                                  const std::vector<int64_t>& times) const {
  uint32_t binding = kNone;
  int64_t ready_ns = kNoEdge;
  for (uint32_t edge = first_edge(node); edge < end_edge(node); ++edge) {
    const int64_t weight_ns = weights[edge];
    if (weight_ns == kNoEdge) continue;
    const int64_t here_ns = SumNs(times[from_[edge]], weight_ns);
    if (binding != kNone && here_ns <= ready_ns) continue;
    ready_ns = here_ns;
    binding = edge;
  }
  return binding;
}

int64_t ReplayGraph::WorkNs(uint32_t edge, uint32_t node) const {
  const bool is_after_room = nodes_[node].kind != NodeKind::kEnd &&
                             kinds_[edge] == EdgeKind::kHost && edge + 1 < end_edge(node) &&
                             kinds_[edge + 1] == EdgeKind::kSync;
  const uint32_t from = from_[is_after_room ? edge + 1 : edge];
  return DifferenceNs(nodes_[node].at_ns, nodes_[from].at_ns);
}

uint32_t ReplayGraph::TraceOf(uint32_t node) const {
  const Node& here = nodes_[node];
  switch (here.kind) {
    case NodeKind::kFinish:
    case NodeKind::kStart:
      return rows_.TraceOf(rows_.activities[here.owner]);
    case NodeKind::kMeet:
      return rows_.TraceOf(rows_.activities[rows_.parts[rows_.collectives[here.owner].first_part]]);
    default:
      return rows_.TraceOf(rows_.calls[here.owner]);
  }
}

uint32_t ReplayGraph::ThreadOf(uint32_t node) const {
  return IsOfHost(node) ? rows_.calls[nodes_[node].owner].thread : kNone;
}

}  // namespace tracedb
