#include "replay/changes/late_ends.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "replay/graph/host_steps.h"
#include "replay/graph/stop_watch.h"
#include "replay/peers/late_peers.h"
#include "replay/peers/peer_times.h"
#include "tracedb/base/interval.h"

namespace tracedb {
namespace {

class LateEnds {
 public:
  LateEnds(const ReplayGraph& graph, const Lateness& late, StopWatch& watch, EdgeTimes& weights)
      : graph_(graph), late_(late), watch_(watch), weights_(weights) {}

  Status Even(SqliteDb& db, const std::set<int64_t>& ranks) {
    for (const auto& [of, from_ns] : late_.ends) {
      if (!late_.late_in.contains(of.second)) steps_.insert(of.second);
    }
    if (steps_.empty()) return Done{};
    ForEachPiece([this](uint32_t, const OfTrace& of, int64_t ns) {
      took_ns_[of] = SumNs(took_ns_[of], ns);
    });
    TRACEDB_ASSIGN(on_time, PeersOnTime(db, graph_.rows(), ranks));
    for (const auto& [trace, peers] : on_time) Compare(trace, peers);
    if (longer_ns_.empty()) return Done{};
    ForEachPiece([this](uint32_t edge, const OfTrace& of, int64_t ns) {
      const auto longer = longer_ns_.find(of);
      if (longer == longer_ns_.end() || weights_[edge] == kNoEdge) return;
      const int64_t less_ns = ShareNs(ns, longer->second, took_ns_.at(of));
      weights_.Set(edge, std::min(weights_[edge], graph_.weights()[edge] - less_ns));
    });
    return Done{};
  }

 private:
  using OfTrace = std::pair<uint32_t, int64_t>;  // trace, step

  void Compare(uint32_t trace, const std::vector<uint32_t>& peers) {
    for (auto end = late_.ends.lower_bound({trace, kNoStep});
         end != late_.ends.end() && end->first.first == trace; ++end) {
      const int64_t step = end->first.second;
      const auto own = took_ns_.find(end->first);
      if (own == took_ns_.end()) continue;
      std::vector<int64_t> others_ns;
      for (const uint32_t peer : peers) {
        if (!late_.peer_ends.contains({peer, step})) continue;
        const auto took = took_ns_.find({peer, step});
        others_ns.push_back(took == took_ns_.end() ? 0 : took->second);
      }
      if (others_ns.empty()) continue;
      const int64_t usual_ns = LowerMedianNs(std::move(others_ns));
      if (own->second > usual_ns) longer_ns_[end->first] = own->second - usual_ns;
    }
  }

  // With each edge that is work of a host in the end of a step: how much of it is.
  template <typename Use>
  void ForEachPiece(const Use& use) {
    CurrentSteps current(graph_);
    for (uint32_t node = 0; node < graph_.nodes().size(); ++node) {
      if (watch_.Asked()) return;
      if (!graph_.IsOfHost(node)) continue;
      const OfTrace of(graph_.TraceOf(node), current.At(node));
      if (!steps_.contains(of.second)) continue;
      auto end = late_.ends.find(of);
      if (end == late_.ends.end()) {
        end = late_.peer_ends.find(of);
        if (end == late_.peer_ends.end()) continue;
      }
      const int64_t since_ns = DifferenceNs(graph_.nodes()[node].at_ns, end->second);
      if (since_ns <= 0) continue;
      for (uint32_t edge = graph_.first_edge(node); edge < graph_.end_edge(node); ++edge) {
        const int64_t ns = std::min(graph_.weights()[edge], since_ns);
        if (IsHost(graph_.kind(edge)) && ns > 0) use(edge, of, ns);
      }
    }
  }

  const ReplayGraph& graph_;
  const Lateness& late_;
  StopWatch& watch_;
  EdgeTimes& weights_;
  std::set<int64_t> steps_;
  std::map<OfTrace, int64_t> took_ns_;
  std::map<OfTrace, int64_t> longer_ns_;  // than the peers
};

}  // namespace

Status EvenEnds(SqliteDb& db, const ReplayGraph& graph, const std::set<int64_t>& ranks,
                const Lateness& late, StopWatch& watch, EdgeTimes& weights) {
  return LateEnds(graph, late, watch, weights).Even(db, ranks);
}

}  // namespace tracedb
