#include "replay/changes/own_work.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

#include "replay/changes/activity_names.h"
#include "replay/changes/peer_times.h"
#include "replay/changes/pipeline_places.h"
#include "replay/graph/host_steps.h"
#include "replay/graph/stop_watch.h"
#include "tracedb/base/interval.h"

namespace tracedb {
namespace {

// Keys of moments that are no part's; those of parts are their names'.
constexpr int64_t kStepsEnd = -1;
constexpr int64_t kWaitsEnd = -2;
constexpr int64_t kStepsBegin = -3;

// A moment that own work leads to or goes on from. Those of two ranks are alike that have the same
// key and number, of as many in the step.
struct Moment {
  int64_t step;
  int64_t key;
  uint32_t count;
  uint32_t number;
  uint32_t trace;
  uint32_t node;  // a part's start, the end of a wait, the begin or the end of a step
};

auto KindOf(const Moment& m) { return std::tie(m.step, m.key, m.count, m.number); }

class OwnWork {
 public:
  OwnWork(const ReplayGraph& graph, ActivityNames names, StopWatch& watch)
      : graph_(graph), rows_(graph.rows()), names_(std::move(names)), watch_(watch) {
    FindMoments();
  }

  Status Even(SqliteDb& db, const std::set<int64_t>& ranks, const Lateness& late,
              EdgeTimes& weights) {
    TRACEDB_ASSIGN(places, PipelinePlaces(db, rows_));
    bool do_the_same = places.empty();
    if (do_the_same) {
      TRACEDB_ASSIGN(has_messages, HasMessages(db, rows_));
      do_the_same = !has_messages;
    }
    for (uint32_t trace = 0; trace < rows_.traces.size(); ++trace) {
      const int64_t rank = rows_.traces[trace].rank;
      if (!ranks.contains(rank)) continue;
      const std::vector<uint32_t> peers = PeersOf(trace, ranks, places, do_the_same);
      if (!peers.empty()) {
        EvenTrace(trace, peers, late.steps, weights);
      } else if (late.slow_ranks.contains(rank)) {
        return NothingToCompare(rank);
      }
    }
    return Done{};
  }

 private:
  // What a rank took longer in a step, of one kind of edges.
  struct Excess {
    Wide net = 0;
    Wide longer = 0;
  };
  struct Longer {
    uint32_t edge;
    std::pair<int64_t, bool> of;  // step, and whether it was done while a part ran
    int64_t ns;
  };
  struct Taken {
    int64_t ns;
    bool is_bound_alike;
  };

  // Stages do unlike work, and only kernels that two of them have in common tell which is slow.
  static Error NothingToCompare(int64_t rank) {
    return Error{ErrorKind::kQuery,
                 "no other rank is of the pipeline stage of rank " + std::to_string(rank) +
                     ": what it takes too long for cannot be told from summaries, but from a "
                     "database of all ranks' traces",
                 ""};
  }

  void FindMoments() {
    CurrentSteps current(graph_);
    moment_of_.assign(graph_.nodes().size(), kNone);
    start_of_.assign(rows_.activities.size(), kNone);
    for (uint32_t node = 0; node < graph_.nodes().size(); ++node) {
      const Node& here = graph_.nodes()[node];
      const int64_t step = current_step(current, node);
      if (here.kind == NodeKind::kStart) {
        const Activity& activity = rows_.activities[here.owner];
        start_of_[here.owner] = node;
        const bool is_part = activity.kind == GpuKind::kCommunication;
        moments_.push_back(
            {activity.step, is_part ? names_.Of(activity) : kStepsEnd, 0, 0, activity.trace, node});
      } else if (here.kind == NodeKind::kEnd) {
        moments_.push_back({step, kWaitsEnd, 0, 0, graph_.TraceOf(node), node});
      } else if (here.kind == NodeKind::kStepBegin) {
        moments_.push_back({step, kStepsBegin, 0, 0, graph_.TraceOf(node), node});
      }
    }
    NumberMoments();
    for (uint32_t i = 0; i < moments_.size(); ++i) moment_of_[moments_[i].node] = i;
  }

  int64_t current_step(CurrentSteps& current, uint32_t node) const {
    return graph_.ThreadOf(node) == kNone ? kNoStep : current.At(node);
  }

  void NumberMoments() {
    std::sort(moments_.begin(), moments_.end(), [](const Moment& a, const Moment& b) {
      return std::tie(a.trace, a.step, a.key, a.node) < std::tie(b.trace, b.step, b.key, b.node);
    });
    for (size_t first = 0; first < moments_.size();) {
      size_t last = first;
      const auto of = [](const Moment& m) { return std::tie(m.trace, m.step, m.key); };
      while (last < moments_.size() && of(moments_[last]) == of(moments_[first])) ++last;
      for (size_t i = first; i < last; ++i) {
        moments_[i].number = static_cast<uint32_t>(i - first);
        moments_[i].count = static_cast<uint32_t>(last - first);
      }
      first = last;
    }
    std::sort(moments_.begin(), moments_.end(), [](const Moment& a, const Moment& b) {
      return std::tuple_cat(KindOf(a), std::tie(a.trace)) <
             std::tuple_cat(KindOf(b), std::tie(b.trace));
    });
  }

  // The other ranks of its stage; where there are no stages and no messages, all others. Who is
  // late is no measure, but where nobody else is left.
  std::vector<uint32_t> PeersOf(uint32_t trace, const std::set<int64_t>& late,
                                const std::map<int64_t, int64_t>& places, bool do_the_same) const {
    const auto own = places.find(rows_.traces[trace].rank);
    std::vector<uint32_t> in_time, all;
    for (uint32_t other = 0; other < rows_.traces.size(); ++other) {
      const int64_t rank = rows_.traces[other].rank;
      if (rank == rows_.traces[trace].rank) continue;
      const auto place = places.find(rank);
      const bool is_of_stage =
          own != places.end() && place != places.end() && place->second == own->second;
      if (!is_of_stage && !do_the_same) continue;
      all.push_back(other);
      if (!late.contains(rank)) in_time.push_back(other);
    }
    return in_time.empty() ? all : in_time;
  }

  void EvenTrace(uint32_t trace, const std::vector<uint32_t>& peers, const std::set<int64_t>& steps,
                 EdgeTimes& weights) {
    excess_.clear();
    longer_.clear();
    for (const Moment& moment : moments_) {
      if (watch_.Asked()) return;
      if (moment.trace != trace || !steps.contains(moment.step)) continue;
      for (uint32_t edge = graph_.first_edge(moment.node); edge < graph_.end_edge(moment.node);
           ++edge) {
        Compare(moment, edge, peers);
      }
    }
    // Chance makes some longer and some shorter: what is left in sum counts.
    for (const Longer& longer : longer_) {
      const Excess& excess = excess_.at(longer.of);
      if (excess.net <= 0 || weights[longer.edge] == kNoEdge) continue;
      const int64_t less_ns = ShareNs(longer.ns, excess.net, excess.longer);
      const int64_t left_ns = std::max<int64_t>(0, graph_.weights()[longer.edge] - less_ns);
      weights.Set(longer.edge, std::min(weights[longer.edge], left_ns));
    }
  }

  bool IsExact(uint32_t edge, uint32_t node) const {
    return graph_.weights()[edge] == At(node) - At(graph_.from(edge));
  }

  void Compare(const Moment& moment, uint32_t edge, const std::vector<uint32_t>& peers) {
    const EdgeKind kind = graph_.kind(edge);
    const bool is_meanwhile = kind == EdgeKind::kOwnMeanwhile;
    const bool is_own = is_meanwhile || kind == EdgeKind::kOwn ||
                        (kind == EdgeKind::kLaunch && IsExact(edge, moment.node));
    if (!is_own) return;
    std::vector<int64_t> taken_ns;
    bool are_bound_alike = true;
    for (const uint32_t peer : peers) {
      const std::optional<Taken> taken = TakenBy(peer, moment, edge);
      if (!taken.has_value()) continue;
      taken_ns.push_back(taken->ns);
      are_bound_alike = are_bound_alike && taken->is_bound_alike;
    }
    if (taken_ns.empty()) return;
    const int64_t ns = graph_.weights()[edge] - LowerMedianNs(std::move(taken_ns));
    // What waited for something else there is no measure of less.
    if (ns < 0 && !are_bound_alike) return;
    const std::pair of(moment.step, is_meanwhile);
    Excess& excess = excess_[of];
    excess.net += ns;
    if (ns <= 0) return;
    excess.longer += ns;
    longer_.push_back({edge, of, ns});
  }

  // What a peer took for the like of this edge; nothing where it has none.
  std::optional<Taken> TakenBy(uint32_t peer, const Moment& moment, uint32_t edge) const {
    const uint32_t to = LikeOf(moment, peer);
    if (to == kNone) return std::nullopt;
    const EdgeKind kind = graph_.kind(edge);
    const bool is_bound_alike = HasExact(to, kind);
    if (kind == EdgeKind::kLaunch) {
      const uint32_t call = rows_.activities[graph_.nodes()[to].owner].call;
      // After other work of its GPU it says nothing of the way from the host.
      if (call == kNone || !is_bound_alike) return std::nullopt;
      return Taken{At(to) - rows_.calls[call].start_ns, true};
    }
    // One that waited for others in its stream says nothing of its rank's work.
    if (HasExact(to, EdgeKind::kStream)) return std::nullopt;
    const Node& from = graph_.nodes()[graph_.from(edge)];
    if (from.kind == NodeKind::kStepBegin) {
      const uint32_t begin = LikeOf(moments_[moment_of_[graph_.from(edge)]], peer);
      if (begin == kNone || At(to) < At(begin)) return std::nullopt;
      return Taken{At(to) - At(begin), is_bound_alike};
    }
    if (from.kind != NodeKind::kStart && from.kind != NodeKind::kFinish) return std::nullopt;
    const uint32_t like = LikeOf(moments_[moment_of_[start_of_[from.owner]]], peer);
    if (like == kNone) return std::nullopt;
    const uint32_t part = graph_.nodes()[like].owner;
    const bool is_from_start = from.kind == NodeKind::kStart;
    if (kind == EdgeKind::kOwn && is_from_start && HasExact(like, EdgeKind::kStream)) {
      return std::nullopt;
    }
    const int64_t after_ns = At(to) - At(graph_.finish(part));
    if (!is_from_start) return after_ns < 0 ? std::nullopt : Some(after_ns, is_bound_alike);
    // That it waited in a part for others is not its own.
    if (after_ns >= 0) return Some(SumNs(rows_.uses[part].computing_ns, after_ns), is_bound_alike);
    return At(to) < At(like) ? std::nullopt : Some(At(to) - At(like), is_bound_alike);
  }

  static std::optional<Taken> Some(int64_t ns, bool is_bound_alike) {
    return Taken{ns, is_bound_alike};
  }

  bool HasExact(uint32_t node, EdgeKind kind) const {
    for (uint32_t edge = graph_.first_edge(node); edge < graph_.end_edge(node); ++edge) {
      if (graph_.kind(edge) != kind) continue;
      if (kind == EdgeKind::kOwnMeanwhile || IsExact(edge, node)) return true;
    }
    return false;
  }

  uint32_t LikeOf(Moment moment, uint32_t trace) const {
    moment.trace = trace;
    const auto by_trace = [](const Moment& a, const Moment& b) {
      return std::tuple_cat(KindOf(a), std::tie(a.trace)) <
             std::tuple_cat(KindOf(b), std::tie(b.trace));
    };
    const auto found = std::lower_bound(moments_.begin(), moments_.end(), moment, by_trace);
    const bool is_it =
        found != moments_.end() && KindOf(*found) == KindOf(moment) && found->trace == trace;
    return is_it ? found->node : kNone;
  }

  int64_t At(uint32_t node) const { return graph_.nodes()[node].at_ns; }

  const ReplayGraph& graph_;
  const JobRows& rows_;
  const ActivityNames names_;
  StopWatch& watch_;
  std::vector<Moment> moments_;
  std::vector<uint32_t> moment_of_;  // by node
  std::vector<uint32_t> start_of_;   // nodes, by activity
  std::map<std::pair<int64_t, bool>, Excess> excess_;
  std::vector<Longer> longer_;
};

}  // namespace

Status EvenOwnWork(SqliteDb& db, const ReplayGraph& graph, const std::set<int64_t>& ranks,
                   const Lateness& late, StopWatch& watch, EdgeTimes& weights) {
  if (late.steps.empty()) return Done{};
  TRACEDB_ASSIGN(names, ActivityNames::Read(db, graph.rows()));
  return OwnWork(graph, std::move(names), watch).Even(db, ranks, late, weights);
}

}  // namespace tracedb
