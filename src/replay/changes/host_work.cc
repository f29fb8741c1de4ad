#include "replay/changes/host_work.h"

#include <algorithm>
#include <compare>
#include <map>
#include <tuple>
#include <utility>

#include "replay/changes/host_stretches.h"
#include "replay/changes/peer_times.h"
#include "replay/changes/scaled_weight.h"
#include "replay/graph/host_steps.h"
#include "replay/graph/stop_watch.h"
#include "tracedb/base/interval.h"
#include "tracedb/schema/event_tables.h"

namespace tracedb {
namespace {

__extension__ using Wide = __int128;

class HostWork {
 public:
  HostWork(const ReplayGraph& graph, const std::set<int64_t>& late, const std::set<int64_t>& steps,
           StopWatch& watch, std::vector<int64_t>& weights)
      : graph_(graph), late_(late), steps_(steps), watch_(watch), weights_(weights) {}

  void Even(const ActivityNames& names) {
    EvenAlike(names);
    EvenSums();
  }

 private:
  using RankStep = std::pair<int64_t, int64_t>;  // rank, step

  struct Stretch {
    PeerEdge peer;
    int64_t work_ns;
  };

  // What a rank's stretches take longer than their like.
  struct Excess {
    Wide net = 0;
    Wide longer = 0;  // of those that are longer alone
  };

  struct Longer {
    uint32_t edge;
    RankStep at;
    int64_t ns;
  };

  // Of a step; between two nodes that are less than kLongSliceNs apart, or not. Short and long are
  // compared apart: who waits for something that was not recorded does that in few long stretches.
  struct Work {
    int64_t step;
    bool is_long;

    auto operator<=>(const Work&) const = default;
  };

  int64_t RankOf(uint32_t trace) const { return graph_.rows().traces[trace].rank; }

  // Stretch by stretch, with those of the others that lie between the same.
  void EvenAlike(const ActivityNames& names) {
    const std::vector<Stretch> stretches = Stretches(names);
    const auto alike = [](const Stretch& s) {
      return std::tie(s.peer.key, s.peer.step, s.peer.count, s.peer.number);
    };
    for (auto first = stretches.begin(); first != stretches.end();) {
      const auto last = std::find_if(first, stretches.end(),
                                     [&](const Stretch& s) { return alike(s) != alike(*first); });
      Compare(first, last);
      first = last;
    }
    // Chance makes some longer and some shorter: what is left in sum counts.
    for (const Longer& longer : longer_) {
      const Excess& excess = excess_.at(longer.at);
      if (excess.net <= 0 || weights_[longer.edge] == kNoEdge) continue;
      const auto less_ns = static_cast<int64_t>(longer.ns * excess.net / excess.longer);
      const int64_t left_ns = std::max<int64_t>(0, graph_.weights()[longer.edge] - less_ns);
      weights_[longer.edge] = std::min(weights_[longer.edge], left_ns);
    }
  }

  // Those of these steps, alike ones together.
  std::vector<Stretch> Stretches(const ActivityNames& names) const {
    std::vector<PeerEdge> peers;
    std::map<uint32_t, int64_t> cut_ns;  // by edge: of those that the recorder cut
    ForEachHostStretch(graph_, names, [&](const HostStretch& stretch) {
      if (!steps_.contains(stretch.peer.step)) return;
      peers.push_back(stretch.peer);
      if (!stretch.held.empty()) cut_ns[stretch.peer.edge] = stretch.work_ns;
    });
    NumberPeers(peers);
    std::vector<Stretch> stretches;
    stretches.reserve(peers.size());
    for (const PeerEdge& peer : peers) {
      const auto cut = cut_ns.find(peer.edge);
      stretches.push_back({peer, cut == cut_ns.end() ? graph_.weights()[peer.edge] : cut->second});
    }
    std::stable_sort(stretches.begin(), stretches.end(), [](const Stretch& a, const Stretch& b) {
      return std::tie(a.peer.key, a.peer.step, a.peer.count, a.peer.number) <
             std::tie(b.peer.key, b.peer.step, b.peer.count, b.peer.number);
    });
    return stretches;
  }

  void Compare(std::vector<Stretch>::const_iterator first,
               std::vector<Stretch>::const_iterator last) {
    std::vector<int64_t> others_ns;
    for (auto at = first; at != last; ++at) {
      if (!late_.contains(RankOf(at->peer.trace))) others_ns.push_back(at->work_ns);
    }
    if (others_ns.empty()) return;
    const int64_t usual_ns = LowerMedianNs(std::move(others_ns));
    for (auto at = first; at != last; ++at) {
      const int64_t rank = RankOf(at->peer.trace);
      if (!late_.contains(rank)) continue;
      const RankStep of{rank, at->peer.step};
      Excess& excess = excess_[of];
      const int64_t ns = at->work_ns - usual_ns;
      excess.net += ns;
      if (ns <= 0) continue;
      excess.longer += ns;
      longer_.push_back({at->peer.edge, of, ns});
    }
  }

  // Of ranks none of whose stretches in a step have their like: all together.
  void EvenSums() {
    std::map<Work, std::map<int64_t, int64_t>> took_ns;  // by rank
    ForEachWork([&](uint32_t edge, Work work, int64_t of) {
      int64_t& sum_ns = took_ns[work][of];
      sum_ns = SumNs(sum_ns, graph_.weights()[edge]);
    });
    std::map<std::pair<Work, int64_t>, double> factors;  // by the work and the rank
    for (const auto& [work, took] : took_ns) {
      std::vector<int64_t> others_ns;
      for (const auto& [of, ns] : took) {
        if (!late_.contains(of)) others_ns.push_back(ns);
      }
      if (others_ns.empty()) continue;
      const int64_t usual_ns = LowerMedianNs(std::move(others_ns));
      for (const auto& [rank, own_ns] : took) {
        if (!late_.contains(rank) || usual_ns >= own_ns) continue;
        if (excess_.contains({rank, work.step})) continue;
        factors[{work, rank}] = static_cast<double>(usual_ns) / static_cast<double>(own_ns);
      }
    }
    if (factors.empty()) return;
    ForEachWork([&](uint32_t edge, Work work, int64_t of) {
      const auto factor = factors.find({work, of});
      if (factor == factors.end() || weights_[edge] == kNoEdge) return;
      weights_[edge] = std::min(weights_[edge], Scaled(graph_.weights()[edge], factor->second));
    });
  }

  // With each edge of work in these steps: itself, what it is, and the rank.
  template <typename Use>
  void ForEachWork(const Use& use) {
    CurrentSteps current(graph_);
    for (uint32_t node = 0; node < graph_.nodes().size(); ++node) {
      if (watch_.Asked()) return;
      if (graph_.ThreadOf(node) == kNone) continue;
      const int64_t step = current.At(node);
      if (!steps_.contains(step)) continue;
      for (uint32_t edge = graph_.first_edge(node); edge < graph_.end_edge(node); ++edge) {
        if (!IsHost(graph_.kind(edge)) || graph_.weights()[edge] <= 0) continue;
        const int64_t apart_ns =
            graph_.nodes()[node].at_ns - graph_.nodes()[graph_.from(edge)].at_ns;
        use(edge, Work{step, apart_ns >= kLongSliceNs}, RankOf(graph_.TraceOf(node)));
      }
    }
  }

  const ReplayGraph& graph_;
  const std::set<int64_t>& late_;
  const std::set<int64_t>& steps_;
  StopWatch& watch_;
  std::vector<int64_t>& weights_;
  std::map<RankStep, Excess> excess_;  // where a stretch has its like
  std::vector<Longer> longer_;
};

}  // namespace

void EvenHostWork(const ReplayGraph& graph, const ActivityNames& names,
                  const std::set<int64_t>& ranks, const std::set<int64_t>& steps, StopWatch& watch,
                  std::vector<int64_t>& weights) {
  HostWork(graph, ranks, steps, watch, weights).Even(names);
}

}  // namespace tracedb
