#include "replay/changes/short_host.h"

#include <algorithm>
#include <map>
#include <utility>

#include "replay/changes/peer_times.h"
#include "replay/changes/scaled_weight.h"
#include "replay/graph/host_steps.h"
#include "replay/graph/stop_watch.h"
#include "tracedb/base/interval.h"
#include "tracedb/schema/event_tables.h"

namespace tracedb {
namespace {

// With each edge of short work in these steps: itself, the step, and the rank.
template <typename Use>
void ForEachShortHost(const ReplayGraph& graph, const std::set<int64_t>& steps, StopWatch& watch,
                      const Use& use) {
  CurrentSteps current(graph);
  for (uint32_t node = 0; node < graph.nodes().size(); ++node) {
    if (watch.Asked()) return;
    if (graph.ThreadOf(node) == kNone) continue;
    const int64_t step = current.At(node);
    if (!steps.contains(step)) continue;
    for (uint32_t edge = graph.first_edge(node); edge < graph.end_edge(node); ++edge) {
      if (!IsHost(graph.kind(edge)) || graph.weights()[edge] <= 0) continue;
      const int64_t apart_ns = graph.nodes()[node].at_ns - graph.nodes()[graph.from(edge)].at_ns;
      if (apart_ns < kLongSliceNs) use(edge, step, graph.rows().traces[graph.TraceOf(node)].rank);
    }
  }
}

}  // namespace

void EvenShortHost(const ReplayGraph& graph, const std::set<int64_t>& ranks,
                   const std::set<int64_t>& steps, StopWatch& watch,
                   std::vector<int64_t>& weights) {
  std::map<int64_t, std::map<int64_t, int64_t>> took_ns;  // by step and rank
  ForEachShortHost(graph, steps, watch, [&](uint32_t edge, int64_t step, int64_t of) {
    int64_t& sum_ns = took_ns[step][of];
    sum_ns = SumNs(sum_ns, graph.weights()[edge]);
  });
  std::map<std::pair<int64_t, int64_t>, double> factors;  // by step and rank
  for (const auto& [step, took] : took_ns) {
    for (const auto& [rank, own_ns] : took) {
      if (!ranks.contains(rank) || took.size() < 2) continue;
      std::vector<int64_t> others_ns;
      for (const auto& [of, ns] : took) {
        if (of != rank) others_ns.push_back(ns);
      }
      const int64_t middle_ns = LowerMedianNs(std::move(others_ns));
      if (middle_ns >= own_ns) continue;
      factors[{step, rank}] = static_cast<double>(middle_ns) / static_cast<double>(own_ns);
    }
  }
  ForEachShortHost(graph, steps, watch, [&](uint32_t edge, int64_t step, int64_t of) {
    const auto factor = factors.find({step, of});
    if (factor == factors.end() || weights[edge] == kNoEdge) return;
    weights[edge] = std::min(weights[edge], Scaled(graph.weights()[edge], factor->second));
  });
}

}  // namespace tracedb
