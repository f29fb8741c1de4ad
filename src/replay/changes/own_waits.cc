#include "replay/changes/own_waits.h"

#include <algorithm>

namespace tracedb {
namespace {

// Parts after which the next one of their stream started at once, having waited for that.
std::vector<bool> AreFollowed(const ReplayGraph& graph) {
  std::vector<bool> are(graph.rows().activities.size(), false);
  for (uint32_t node = 0; node < graph.nodes().size(); ++node) {
    if (graph.nodes()[node].kind != NodeKind::kStart) continue;
    for (uint32_t edge = graph.first_edge(node); edge < graph.end_edge(node); ++edge) {
      const Node& from = graph.nodes()[graph.from(edge)];
      const bool is_exact = graph.weights()[edge] == graph.nodes()[node].at_ns - from.at_ns;
      if (graph.kind(edge) == EdgeKind::kStream && is_exact) are[from.owner] = true;
    }
  }
  return are;
}

}  // namespace

OwnWaits::OwnWaits(const ReplayGraph& graph) : waits_(graph.rows().traces.size()) {
  const JobRows& rows = graph.rows();
  const std::vector<bool> are_followed = AreFollowed(graph);
  std::vector<std::vector<Interval>> times(waits_.size());
  for (uint32_t i = 0; i < rows.activities.size(); ++i) {
    const Activity& part = rows.activities[i];
    const PartUse& use = rows.uses[i];
    // After others the host had nothing launched yet: what the GPU waited for is not told.
    if (!use.is_exposed || (!use.is_resumed && !are_followed[i])) continue;
    times[rows.TraceOf(part)].push_back({SumNs(part.start_ns, use.computing_ns), part.finish_ns});
  }
  for (size_t trace = 0; trace < times.size(); ++trace) {
    std::vector<Interval>& of_trace = times[trace];
    std::sort(of_trace.begin(), of_trace.end(),
              [](const Interval& a, const Interval& b) { return a.start_ns < b.start_ns; });
    std::vector<Wait>& waits = waits_[trace];
    for (const Interval& time : of_trace) {
      if (!waits.empty() && time.start_ns <= waits.back().time.end_ns) {
        waits.back().time.end_ns = std::max(waits.back().time.end_ns, time.end_ns);
        continue;
      }
      const int64_t before_ns =
          waits.empty() ? 0 : SumNs(waits.back().before_ns, waits.back().time.length());
      waits.push_back({time, before_ns});
    }
  }
}

int64_t OwnWaits::WaitedUntil(uint32_t trace, int64_t until_ns) const {
  const std::vector<Wait>& waits = waits_[trace];
  const auto next = std::partition_point(
      waits.begin(), waits.end(), [&](const Wait& wait) { return wait.time.start_ns < until_ns; });
  if (next == waits.begin()) return 0;
  const Wait& last = *std::prev(next);
  return SumNs(last.before_ns, std::min(until_ns, last.time.end_ns) - last.time.start_ns);
}

int64_t OwnWaits::OwnNs(uint32_t trace, Interval time) const {
  const int64_t all_ns = DifferenceNs(time.end_ns, time.start_ns);
  if (all_ns <= 0) return all_ns;
  return all_ns - (WaitedUntil(trace, time.end_ns) - WaitedUntil(trace, time.start_ns));
}

}  // namespace tracedb
