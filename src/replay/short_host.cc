#include "replay/short_host.h"

#include <algorithm>
#include <map>

#include "replay/host_steps.h"
#include "replay/scaled_weight.h"
#include "replay/stop_watch.h"
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

void EvenShortHost(const ReplayGraph& graph, int64_t rank, const std::set<int64_t>& steps,
                   StopWatch& watch, std::vector<int64_t>& weights) {
  std::map<int64_t, std::map<int64_t, int64_t>> took_ns;  // by step and rank
  ForEachShortHost(graph, steps, watch, [&](uint32_t edge, int64_t step, int64_t of) {
    int64_t& sum_ns = took_ns[step][of];
    sum_ns = SumNs(sum_ns, graph.weights()[edge]);
  });
  std::map<int64_t, double> factors;  // by step
  for (const auto& [step, ranks] : took_ns) {
    const auto own = ranks.find(rank);
    if (own == ranks.end() || ranks.size() < 2) continue;
    int64_t others_ns = 0;
    for (const auto& [of, ns] : ranks) others_ns = SumNs(others_ns, of == rank ? 0 : ns);
    const int64_t mean_ns = others_ns / static_cast<int64_t>(ranks.size() - 1);
    if (mean_ns < own->second) {
      factors[step] = static_cast<double>(mean_ns) / static_cast<double>(own->second);
    }
  }
  ForEachShortHost(graph, steps, watch, [&](uint32_t edge, int64_t step, int64_t of) {
    const auto factor = factors.find(step);
    if (of != rank || factor == factors.end() || weights[edge] == kNoEdge) return;
    weights[edge] = std::min(weights[edge], Scaled(graph.weights()[edge], factor->second));
  });
}

}  // namespace tracedb
