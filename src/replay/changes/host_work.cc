#include "replay/changes/host_work.h"

#include <algorithm>
#include <compare>
#include <map>
#include <span>
#include <tuple>
#include <utility>

#include "replay/changes/scaled_weight.h"
#include "replay/graph/host_steps.h"
#include "replay/graph/stop_watch.h"
#include "replay/peers/host_stretches.h"
#include "replay/peers/late_peers.h"
#include "replay/peers/peer_times.h"
#include "tracedb/base/interval.h"
#include "tracedb/schema/event_tables.h"

namespace tracedb {

// One question: these ranks are late, in these steps.
class HostWorkOfRanks {
 public:
  HostWorkOfRanks(const ReplayGraph& graph, const std::set<int64_t>& late,
                  const std::set<int64_t>& steps, StopWatch& watch, EdgeTimes& weights)
      : graph_(graph), late_(late), steps_(steps), watch_(watch), weights_(weights) {}

  // `peers`: by trace of a late rank.
  void Even(const HostWork::Likes& likes, const std::map<uint32_t, std::vector<uint32_t>>& peers) {
    EvenAlike(likes);
    if (!peers.empty()) EvenUnlike(likes, peers);
    EvenSums();
  }

 private:
  using RankStep = std::pair<int64_t, int64_t>;  // rank, step
  using Stretches = std::span<const HostWork::Stretch>;

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
  void EvenAlike(const HostWork::Likes& likes) {
    ForEachGroup(likes, [this](Stretches alike, int64_t step) { Compare(alike, step); });
    // Chance makes some longer and some shorter: what is left in sum counts.
    for (const Longer& longer : longer_) {
      const Excess& excess = excess_.at(longer.at);
      if (excess.net > 0) Shorten(longer.edge, ShareNs(longer.ns, excess.net, excess.longer));
    }
  }

  void Compare(Stretches alike, int64_t step) {
    std::vector<int64_t> others_ns;
    for (const HostWork::Stretch& one : alike) {
      if (!late_.contains(RankOf(one.trace))) others_ns.push_back(one.work_ns);
    }
    if (others_ns.size() == alike.size()) return;
    if (others_ns.empty()) {
      // Of summaries nothing else tells of ranks that are late in turn.
      if (!graph_.rows().is_of_summaries || alike.size() < 2) return;
      for (const HostWork::Stretch& one : alike) others_ns.push_back(one.work_ns);
    }
    const int64_t usual_ns = LowerMedianNs(std::move(others_ns));
    for (const HostWork::Stretch& one : alike) {
      const RankStep of{RankOf(one.trace), step};
      if (!late_.contains(of.first)) continue;
      Excess& excess = excess_[of];
      const int64_t ns = one.work_ns - usual_ns;
      excess.net += ns;
      if (ns <= 0) continue;
      excess.longer += ns;
      longer_.push_back({one.edge, of, ns});
    }
  }

  // What a late rank does in a step that is like nothing of the others, and what a peer does there
  // that is like nothing of the rank.
  struct Unlike {
    Wide own_ns = 0;
    std::map<uint32_t, int64_t> of_peers_ns;  // by trace
    int64_t less_ns = 0;
  };

  template <typename Use>
  void ForEachGroup(const HostWork::Likes& likes, const Use& use) const {
    for (size_t i = 0; i < likes.groups.size(); ++i) {
      const HostWork::Alike& alike = likes.groups[i];
      if (!steps_.contains(alike.step)) continue;
      const size_t end =
          i + 1 < likes.groups.size() ? likes.groups[i + 1].first : likes.stretches.size();
      use(Stretches(likes.stretches).subspan(alike.first, end - alike.first), alike.step);
    }
  }

  bool IsOfLate(Stretches alike) const {
    return std::ranges::all_of(
        alike, [&](const HostWork::Stretch& one) { return late_.contains(RankOf(one.trace)); });
  }

  // A checkpoint saved by one rank, say: many copies, and nothing of the kind elsewhere. All of it
  // is compared with all that peers do beside what the rank does too.
  void EvenUnlike(const HostWork::Likes& likes,
                  const std::map<uint32_t, std::vector<uint32_t>>& peers) {
    std::map<int64_t, std::map<uint32_t, Unlike>> in_step;  // then by trace
    ForEachGroup(likes, [&](Stretches alike, int64_t step) {
      if (!IsOfLate(alike)) return;
      for (const HostWork::Stretch& one : alike) {
        if (peers.contains(one.trace)) in_step[step][one.trace].own_ns += one.work_ns;
      }
    });
    if (in_step.empty()) return;
    ForEachGroup(likes, [&](Stretches alike, int64_t step) {
      const auto unlike = in_step.find(step);
      if (unlike == in_step.end() || watch_.Asked()) return;
      for (auto& [trace, work] : unlike->second) AddPeers(alike, trace, peers.at(trace), work);
    });
    for (auto& [step, unlike] : in_step) {
      for (auto& [trace, work] : unlike) {
        work.less_ns = LessOf({RankOf(trace), step}, work, peers.at(trace));
      }
    }
    ForEachGroup(likes, [&](Stretches alike, int64_t step) {
      const auto unlike = in_step.find(step);
      if (unlike == in_step.end() || !IsOfLate(alike)) return;
      for (const HostWork::Stretch& one : alike) {
        const auto work = unlike->second.find(one.trace);
        if (work == unlike->second.end() || work->second.less_ns <= 0) continue;
        Shorten(one.edge, ShareNs(one.work_ns, work->second.less_ns, work->second.own_ns));
      }
    });
  }

  static void AddPeers(Stretches alike, uint32_t trace, const std::vector<uint32_t>& peers,
                       Unlike& work) {
    const auto is_own = [&](const HostWork::Stretch& one) { return one.trace == trace; };
    if (std::ranges::any_of(alike, is_own)) return;
    for (const HostWork::Stretch& one : alike) {
      if (!std::ranges::binary_search(peers, one.trace)) continue;
      int64_t& ns = work.of_peers_ns[one.trace];
      ns = SumNs(ns, one.work_ns);
    }
  }

  // By how much it is more, but for what the rank does quicker than others.
  int64_t LessOf(const RankStep& of, const Unlike& work, const std::vector<uint32_t>& peers) const {
    std::vector<int64_t> others_ns;
    for (const uint32_t peer : peers) {
      const auto took = work.of_peers_ns.find(peer);
      others_ns.push_back(took == work.of_peers_ns.end() ? 0 : took->second);
    }
    Wide less_ns = work.own_ns - LowerMedianNs(std::move(others_ns));
    const auto excess = excess_.find(of);
    if (excess != excess_.end()) less_ns += std::min<Wide>(0, excess->second.net);
    return static_cast<int64_t>(std::clamp<Wide>(less_ns, 0, work.own_ns));
  }

  void Shorten(uint32_t edge, int64_t less_ns) {
    if (weights_[edge] == kNoEdge) return;
    const int64_t left_ns = std::max<int64_t>(0, graph_.weights()[edge] - less_ns);
    weights_.Set(edge, std::min(weights_[edge], left_ns));
  }

  // Of ranks none of whose stretches in a step have their like: all together.
  void EvenSums() {
    const bool is_done = std::ranges::all_of(late_, [&](int64_t rank) {
      return std::ranges::all_of(steps_, [&](int64_t step) {
        return excess_.contains({rank, step});
      });
    });
    if (is_done) return;
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
      weights_.Set(edge, std::min(weights_[edge], Scaled(graph_.weights()[edge], factor->second)));
    });
  }

  // With each edge of work in these steps: itself, what it is, and the rank.
  template <typename Use>
  void ForEachWork(const Use& use) {
    CurrentSteps current(graph_);
    for (uint32_t node = 0; node < graph_.nodes().size(); ++node) {
      if (watch_.Asked()) return;
      if (!graph_.IsOfHost(node)) continue;
      const int64_t step = current.At(node);
      if (!steps_.contains(step)) continue;
      for (uint32_t edge = graph_.first_edge(node); edge < graph_.end_edge(node); ++edge) {
        if (!IsHost(graph_.kind(edge)) || graph_.weights()[edge] <= 0) continue;
        const bool is_long = graph_.WorkNs(edge, node) >= kLongSliceNs;
        use(edge, Work{step, is_long}, RankOf(graph_.TraceOf(node)));
      }
    }
  }

  const ReplayGraph& graph_;
  const std::set<int64_t>& late_;
  const std::set<int64_t>& steps_;
  StopWatch& watch_;
  EdgeTimes& weights_;
  std::map<RankStep, Excess> excess_;  // where a stretch has its like
  std::vector<Longer> longer_;
};

HostWork::Likes HostWork::Find(const ActivityNames& names) const {
  std::vector<PeerEdge> peers;
  std::map<uint32_t, int64_t> cut_ns;  // by edge: of those that the recorder cut
  ForEachHostStretch(graph_, names, [&](const HostStretch& stretch) {
    peers.push_back(stretch.peer);
    if (!stretch.held.empty()) cut_ns[stretch.peer.edge] = stretch.work_ns;
  });
  NumberPeers(peers);
  const auto alike = [](const PeerEdge& p) { return std::tie(p.key, p.step, p.count, p.number); };
  std::stable_sort(peers.begin(), peers.end(),
                   [&](const PeerEdge& a, const PeerEdge& b) { return alike(a) < alike(b); });
  Likes likes;
  likes.stretches.reserve(peers.size());
  for (size_t i = 0; i < peers.size(); ++i) {
    if (i == 0 || alike(peers[i]) != alike(peers[i - 1])) {
      likes.groups.push_back({peers[i].step, static_cast<uint32_t>(i)});
    }
    const auto cut = cut_ns.find(peers[i].edge);
    const int64_t ns = cut == cut_ns.end() ? graph_.weights()[peers[i].edge] : cut->second;
    likes.stretches.push_back({ns, peers[i].edge, peers[i].trace});
  }
  return likes;
}

Status HostWork::Even(SqliteDb& db, const std::set<int64_t>& ranks, const std::set<int64_t>& steps,
                      StopWatch& watch, EdgeTimes& weights) {
  if (!likes_.has_value()) {
    TRACEDB_ASSIGN(names, ActivityNames::Read(db, graph_.rows()));
    likes_ = Find(names);
  }
  std::map<uint32_t, std::vector<uint32_t>> peers;
  if (!graph_.rows().is_of_summaries) {
    TRACEDB_ASSIGN(on_time, PeersOnTime(db, graph_.rows(), ranks));
    peers = std::move(on_time);
  }
  HostWorkOfRanks(graph_, ranks, steps, watch, weights).Even(*likes_, peers);
  return Done{};
}

}  // namespace tracedb
