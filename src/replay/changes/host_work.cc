#include "replay/changes/host_work.h"

#include <algorithm>
#include <compare>
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

// Of a step; between two nodes that are less than kLongSliceNs apart, or not. Short and long are
// compared apart: who waits for something that was not recorded does that in few long stretches.
struct Work {
  int64_t step;
  bool is_long;

  auto operator<=>(const Work&) const = default;
};

// With each edge of work in these steps: itself, what it is, and the rank.
template <typename Use>
void ForEachWork(const ReplayGraph& graph, const std::set<int64_t>& steps, StopWatch& watch,
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
      use(edge, Work{step, apart_ns >= kLongSliceNs},
          graph.rows().traces[graph.TraceOf(node)].rank);
    }
  }
}

}  // namespace

void EvenHostWork(const ReplayGraph& graph, const std::set<int64_t>& ranks,
                  const std::set<int64_t>& steps, StopWatch& watch, std::vector<int64_t>& weights) {
  std::map<Work, std::map<int64_t, int64_t>> took_ns;  // by rank
  ForEachWork(graph, steps, watch, [&](uint32_t edge, Work work, int64_t of) {
    int64_t& sum_ns = took_ns[work][of];
    sum_ns = SumNs(sum_ns, graph.weights()[edge]);
  });
  std::map<std::pair<Work, int64_t>, double> factors;  // by the work and the rank
  for (const auto& [work, took] : took_ns) {
    for (const auto& [rank, own_ns] : took) {
      if (!ranks.contains(rank) || took.size() < 2) continue;
      std::vector<int64_t> others_ns;
      for (const auto& [of, ns] : took) {
        if (of != rank) others_ns.push_back(ns);
      }
      const int64_t middle_ns = LowerMedianNs(std::move(others_ns));
      if (middle_ns >= own_ns) continue;
      factors[{work, rank}] = static_cast<double>(middle_ns) / static_cast<double>(own_ns);
    }
  }
  ForEachWork(graph, steps, watch, [&](uint32_t edge, Work work, int64_t of) {
    const auto factor = factors.find({work, of});
    if (factor == factors.end() || weights[edge] == kNoEdge) return;
    weights[edge] = std::min(weights[edge], Scaled(graph.weights()[edge], factor->second));
  });
}

}  // namespace tracedb
