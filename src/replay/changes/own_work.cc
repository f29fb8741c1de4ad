#include "replay/changes/own_work.h"

#include <algorithm>
#include <compare>
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
// key and number, of as many in the step; ends of waits are numbered from the step's last.
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
  OwnWork(const ReplayGraph& graph, ActivityNames names, StopWatch& watch, EdgeTimes& weights)
      : graph_(graph),
        rows_(graph.rows()),
        names_(std::move(names)),
        watch_(watch),
        weights_(weights) {
    FindMoments();
  }

  Status Even(SqliteDb& db, const std::set<int64_t>& ranks, const Lateness& late) {
    TRACEDB_TRY(ReadRoles(db, ranks));
    for (uint32_t trace = 0; trace < rows_.traces.size(); ++trace) {
      const int64_t rank = rows_.traces[trace].rank;
      is_compared_.push_back(ranks.contains(rank) && role_of_[trace].has_value());
      const bool is_alone = ranks.contains(rank) && !role_of_[trace].has_value();
      if (is_alone && late.slow_ranks.contains(rank)) return NothingToCompare(rank);
    }
    for (uint32_t group = 0; group + 1 < groups_.size(); ++group) {
      if (watch_.Asked()) return Done{};
      if (late.steps.contains(moments_[groups_[group]].step)) CompareGroup(group);
    }
    Shorten();
    return Done{};
  }

 private:
  // Trace, step, and whether it was done while a part ran.
  using Of = std::tuple<uint32_t, int64_t, bool>;
  struct Excess {
    Wide net = 0;
    Wide longer = 0;
  };
  struct Longer {
    uint32_t edge;
    Of of;
    int64_t ns;
  };
  struct Taken {
    int64_t ns;
    bool is_bound_alike;
  };
  // What edges into one moment are alike in: what they are, and where from; kNone: from no moment.
  struct Way {
    EdgeKind kind;
    NodeKind from;
    uint32_t from_group;

    auto operator<=>(const Way&) const = default;
  };
  using Usual = std::optional<Taken>;  // of peers; nothing where no peer says anything

  // Stages do unlike work, and only kernels that two of them have in common tell which is slow.
  static Error NothingToCompare(int64_t rank) {
    return Error{ErrorKind::kQuery,
                 "no other rank is of the pipeline stage of rank " + std::to_string(rank) +
                     ": what it takes too long for cannot be told from summaries, but from a "
                     "database of all ranks' traces",
                 ""};
  }

  // Ranks of one stage have one role; where there are no stages and no messages, all have. Who is
  // late is no measure, but where nobody else is left. A rank that is alone has no role.
  Status ReadRoles(SqliteDb& db, const std::set<int64_t>& late) {
    TRACEDB_ASSIGN(places, PipelinePlaces(db, rows_));
    bool do_the_same = places.empty();
    if (do_the_same) {
      TRACEDB_ASSIGN(has_messages, HasMessages(db, rows_));
      do_the_same = !has_messages;
    }
    role_of_.resize(rows_.traces.size());
    std::map<int64_t, std::vector<uint32_t>> all;
    for (uint32_t trace = 0; trace < rows_.traces.size(); ++trace) {
      const auto place = places.find(rows_.traces[trace].rank);
      if (place != places.end()) all[place->second].push_back(trace);
      if (place == places.end() && do_the_same) all[0].push_back(trace);
    }
    for (auto& [role, traces] : all) {
      if (traces.size() < 2) continue;
      std::vector<uint32_t>& peers = peers_[role];
      for (const uint32_t trace : traces) {
        role_of_[trace] = role;
        if (!late.contains(rows_.traces[trace].rank)) peers.push_back(trace);
      }
      if (peers.empty()) peers = std::move(traces);
    }
    return Done{};
  }

  void FindMoments() {
    CurrentSteps current(graph_);
    group_of_.assign(graph_.nodes().size(), kNone);
    start_of_.assign(rows_.activities.size(), kNone);
    for (uint32_t node = 0; node < graph_.nodes().size(); ++node) {
      const Node& here = graph_.nodes()[node];
      const int64_t step = graph_.ThreadOf(node) == kNone ? kNoStep : current.At(node);
      if (here.kind == NodeKind::kStart) {
        const Activity& activity = rows_.activities[here.owner];
        start_of_[here.owner] = node;
        const bool is_part = activity.kind == GpuKind::kCommunication;
        const int64_t key = is_part ? names_.Of(activity) : kStepsEnd;
        moments_.push_back({activity.step, key, 0, 0, activity.trace, node});
      } else if (here.kind == NodeKind::kEnd) {
        moments_.push_back({step, kWaitsEnd, 0, 0, graph_.TraceOf(node), node});
      } else if (here.kind == NodeKind::kStepBegin) {
        moments_.push_back({step, kStepsBegin, 0, 0, graph_.TraceOf(node), node});
      }
    }
    NumberMoments();
    for (uint32_t i = 0; i < moments_.size(); ++i) {
      const bool is_next = i == 0 || KindOf(moments_[i]) != KindOf(moments_[i - 1]);
      if (is_next) groups_.push_back(i);
      group_of_[moments_[i].node] = static_cast<uint32_t>(groups_.size() - 1);
    }
    groups_.push_back(static_cast<uint32_t>(moments_.size()));
  }

  void NumberMoments() {
    std::sort(moments_.begin(), moments_.end(), [](const Moment& a, const Moment& b) {
      return std::tie(a.trace, a.step, a.key, a.node) < std::tie(b.trace, b.step, b.key, b.node);
    });
    for (size_t first = 0; first < moments_.size();) {
      size_t last = first;
      const auto of = [](const Moment& m) { return std::tie(m.trace, m.step, m.key); };
      while (last < moments_.size() && of(moments_[last]) == of(moments_[first])) ++last;
      // Which waits are long enough to be there differs by who is late: they count from the last.
      const bool is_wait = moments_[first].key == kWaitsEnd;
      for (size_t i = first; i < last; ++i) {
        moments_[i].number = static_cast<uint32_t>(is_wait ? last - 1 - i : i - first);
        moments_[i].count = is_wait ? 0 : static_cast<uint32_t>(last - first);
      }
      first = last;
    }
    std::sort(moments_.begin(), moments_.end(), [](const Moment& a, const Moment& b) {
      return std::tuple_cat(KindOf(a), std::tie(a.trace)) <
             std::tuple_cat(KindOf(b), std::tie(b.trace));
    });
  }

  // Late ranks of one role have the same peers, so what is usual is worked out once.
  void CompareGroup(uint32_t group) {
    std::map<std::pair<int64_t, Way>, Usual> usual;  // by role
    for (uint32_t i = groups_[group]; i < groups_[group + 1]; ++i) {
      const Moment& moment = moments_[i];
      if (!is_compared_[moment.trace]) continue;
      const uint32_t end = graph_.end_edge(moment.node);
      for (uint32_t edge = graph_.first_edge(moment.node); edge < end; ++edge) {
        const std::optional<Way> way = WayOf(edge, moment.node);
        if (!way.has_value()) continue;
        const int64_t role = *role_of_[moment.trace];
        const auto [known, is_new] = usual.try_emplace({role, *way});
        if (is_new) known->second = UsualOf(group, *way, peers_.at(role));
        if (known->second.has_value()) Compare(moment, edge, *known->second);
      }
    }
  }

  void Compare(const Moment& moment, uint32_t edge, const Taken& usual) {
    const int64_t ns = graph_.weights()[edge] - usual.ns;
    // What waited for something else there is no measure of less.
    if (ns < 0 && !usual.is_bound_alike) return;
    const Of of{moment.trace, moment.step, graph_.kind(edge) == EdgeKind::kOwnMeanwhile};
    Excess& excess = excess_[of];
    excess.net += ns;
    if (ns <= 0) return;
    excess.longer += ns;
    longer_.push_back({edge, of, ns});
  }

  // Chance makes some longer and some shorter: what is left in sum counts.
  void Shorten() {
    for (const Longer& longer : longer_) {
      const Excess& excess = excess_.at(longer.of);
      if (excess.net <= 0 || weights_[longer.edge] == kNoEdge) continue;
      const int64_t less_ns = ShareNs(longer.ns, excess.net, excess.longer);
      const int64_t left_ns = std::max<int64_t>(0, graph_.weights()[longer.edge] - less_ns);
      weights_.Set(longer.edge, std::min(weights_[longer.edge], left_ns));
    }
  }

  // Nothing of an edge that is not own work.
  std::optional<Way> WayOf(uint32_t edge, uint32_t node) const {
    const EdgeKind kind = graph_.kind(edge);
    const uint32_t from = graph_.from(edge);
    const NodeKind from_kind = graph_.nodes()[from].kind;
    if (kind == EdgeKind::kLaunch && IsExact(edge, node)) return Way{kind, from_kind, kNone};
    if (kind != EdgeKind::kOwn && kind != EdgeKind::kOwnMeanwhile) return std::nullopt;
    if (from_kind == NodeKind::kStepBegin) return Way{kind, from_kind, group_of_[from]};
    if (from_kind != NodeKind::kStart && from_kind != NodeKind::kFinish) return std::nullopt;
    return Way{kind, from_kind, group_of_[start_of_[graph_.nodes()[from].owner]]};
  }

  bool IsExact(uint32_t edge, uint32_t node) const {
    return graph_.weights()[edge] == At(node) - At(graph_.from(edge));
  }

  Usual UsualOf(uint32_t group, const Way& way, const std::vector<uint32_t>& peers) const {
    std::vector<int64_t> taken_ns;
    bool are_bound_alike = true;
    for (const uint32_t peer : peers) {
      const std::optional<Taken> taken = TakenBy(peer, group, way);
      if (!taken.has_value()) continue;
      taken_ns.push_back(taken->ns);
      are_bound_alike = are_bound_alike && taken->is_bound_alike;
    }
    if (taken_ns.empty()) return std::nullopt;
    return Taken{LowerMedianNs(std::move(taken_ns)), are_bound_alike};
  }

  // Nothing where the peer has not the like.
  std::optional<Taken> TakenBy(uint32_t peer, uint32_t group, const Way& way) const {
    const uint32_t to = NodeIn(group, peer);
    if (to == kNone) return std::nullopt;
    const bool is_bound_alike = HasExact(to, way.kind);
    if (way.kind == EdgeKind::kLaunch) {
      const uint32_t call = rows_.activities[graph_.nodes()[to].owner].call;
      // After other work of its GPU it says nothing of the way from the host.
      if (call == kNone || !is_bound_alike) return std::nullopt;
      return Taken{At(to) - rows_.calls[call].start_ns, true};
    }
    // One that waited for others in its stream says nothing of its rank's work.
    if (HasExact(to, EdgeKind::kStream)) return std::nullopt;
    const uint32_t like = NodeIn(way.from_group, peer);
    if (like == kNone) return std::nullopt;
    const auto taken = [&](int64_t ns) {
      return ns < 0 ? std::nullopt : std::optional(Taken{ns, is_bound_alike});
    };
    if (way.from == NodeKind::kStepBegin) return taken(At(to) - At(like));
    const uint32_t part = graph_.nodes()[like].owner;
    const int64_t after_ns = At(to) - At(graph_.finish(part));
    if (way.from == NodeKind::kFinish) return taken(after_ns);
    const bool was_queued = HasExact(like, EdgeKind::kStream);
    if (way.kind == EdgeKind::kOwn && was_queued) return std::nullopt;
    // That it waited in a part for others is not its own.
    return taken(after_ns < 0 ? At(to) - At(like) : SumNs(rows_.uses[part].computing_ns, after_ns));
  }

  bool HasExact(uint32_t node, EdgeKind kind) const {
    for (uint32_t edge = graph_.first_edge(node); edge < graph_.end_edge(node); ++edge) {
      if (graph_.kind(edge) != kind) continue;
      if (kind == EdgeKind::kOwnMeanwhile || IsExact(edge, node)) return true;
    }
    return false;
  }

  // The moment of a trace among those that are alike; kNone: it has none.
  uint32_t NodeIn(uint32_t group, uint32_t trace) const {
    const auto begin = moments_.begin() + groups_[group];
    const auto end = moments_.begin() + groups_[group + 1];
    const auto found = std::ranges::lower_bound(begin, end, trace, {}, &Moment::trace);
    return found != end && found->trace == trace ? found->node : kNone;
  }

  int64_t At(uint32_t node) const { return graph_.nodes()[node].at_ns; }

  const ReplayGraph& graph_;
  const JobRows& rows_;
  const ActivityNames names_;
  StopWatch& watch_;
  EdgeTimes& weights_;
  std::vector<Moment> moments_;
  std::vector<uint32_t> groups_;    // the first moment of those that are alike; the end
  std::vector<uint32_t> group_of_;  // by node
  std::vector<uint32_t> start_of_;  // nodes, by activity
  std::vector<std::optional<int64_t>> role_of_;     // by trace
  std::map<int64_t, std::vector<uint32_t>> peers_;  // traces, by role
  std::vector<bool> is_compared_;                   // traces
  std::map<Of, Excess> excess_;
  std::vector<Longer> longer_;
};

}  // namespace

Status EvenOwnWork(SqliteDb& db, const ReplayGraph& graph, const std::set<int64_t>& ranks,
                   const Lateness& late, StopWatch& watch, EdgeTimes& weights) {
  if (late.steps.empty()) return Done{};
  TRACEDB_ASSIGN(names, ActivityNames::Read(db, graph.rows()));
  return OwnWork(graph, std::move(names), watch, weights).Even(db, ranks, late);
}

}  // namespace tracedb
