#include "replay/changes/own_work.h"

#include <algorithm>
#include <compare>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

#include "replay/graph/stop_watch.h"
#include "replay/peers/activity_names.h"
#include "replay/peers/peer_times.h"
#include "replay/peers/pipeline_places.h"
#include "tracedb/base/interval.h"

namespace tracedb {
namespace {

constexpr int64_t kUnknownNsMax = 100'000;

class OwnWork {
 public:
  OwnWork(const ReplayGraph& graph, const OwnTimes& times, Untold untold, StopWatch& watch,
          EdgeTimes& weights)
      : graph_(graph),
        rows_(graph.rows()),
        untold_(untold),
        watch_(watch),
        weights_(weights),
        waits_(*times.waits),
        moments_(*times.moments) {}

  Status Even(SqliteDb& db, const std::set<int64_t>& ranks, const Lateness& late) {
    TRACEDB_TRY(ReadRoles(db, ranks));
    for (uint32_t trace = 0; trace < rows_.traces.size(); ++trace) {
      const int64_t rank = rows_.traces[trace].rank;
      is_late_.push_back(ranks.contains(rank));
      const bool is_alone = ranks.contains(rank) && !role_of_[trace].has_value();
      if (untold_ == Untold::kIsError && is_alone && late.slow_ranks.contains(rank))
        return NothingToCompare(rank);
    }
    std::set<int64_t> steps = late.steps;
    for (const auto& [of, from_ns] : late.ends) steps.insert(of.second);
    for (uint32_t group = 0; group < moments_.group_count(); ++group) {
      if (watch_.Asked()) return Done{};
      if (steps.contains(moments_.Group(group).front().step)) CompareGroup(group, late);
    }
    Shorten();
    if (untold_ == Untold::kIsError) return CheckNotCompared();
    if (untold_ == Untold::kGoes) weights_ = WithoutNotCompared();
    return Done{};
  }

 private:
  // Trace, step, and of which kind the edges are: each is compared apart.
  using Of = std::tuple<uint32_t, int64_t, EdgeKind>;
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
  Error NothingToCompare(int64_t rank) const {
    const std::string of_rank = " rank " + std::to_string(rank);
    const std::string why =
        has_stages_ ? "no other rank is of the pipeline stage of" + of_rank
                    : "ranks send messages to single ranks, and no pipeline groups tell which do "
                      "the same as" +
                          of_rank;
    return Error{ErrorKind::kQuery,
                 why +
                     ": what it takes too long for cannot be told from summaries, but from a "
                     "database of all ranks' traces",
                 ""};
  }

  // Ranks of one stage have one role; where there are no stages and no messages, all have. Who is
  // late is no measure, but where nobody else is left. A rank that is alone has no role.
  Status ReadRoles(SqliteDb& db, const std::set<int64_t>& late) {
    TRACEDB_ASSIGN(places, PipelinePlaces(db, rows_));
    has_stages_ = !places.empty();
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

  // From when on a rank may have lost time in the step of a moment; nothing: it did not.
  static std::optional<int64_t> ComparedFrom(const OwnMoment& moment, const Lateness& late) {
    if (late.steps.contains(moment.step)) return std::numeric_limits<int64_t>::min();
    const auto end = late.ends.find({moment.trace, moment.step});
    return end == late.ends.end() ? std::nullopt : std::optional(end->second);
  }

  // Late ranks of one role have the same peers, so what is usual is worked out once.
  void CompareGroup(uint32_t group, const Lateness& late) {
    std::map<std::pair<int64_t, Way>, Usual> usual;  // by role
    for (const OwnMoment& moment : moments_.Group(group)) {
      if (!is_late_[moment.trace]) continue;
      const std::optional<int64_t> from_ns = ComparedFrom(moment, late);
      if (!from_ns.has_value()) continue;
      const uint32_t end = graph_.end_edge(moment.node);
      for (uint32_t edge = graph_.first_edge(moment.node); edge < end; ++edge) {
        if (At(graph_.from(edge)) < *from_ns) continue;
        const std::optional<Way> way = WayOf(edge, moment.node);
        const bool is_own = graph_.kind(edge) == EdgeKind::kOwn;
        if (!way.has_value() && is_own) not_compared_.push_back(edge);
        if (!way.has_value()) continue;
        const std::optional<int64_t> role = role_of_[moment.trace];
        if (!role.has_value()) {
          not_compared_.push_back(edge);
          continue;
        }
        const auto [known, is_new] = usual.try_emplace({*role, *way});
        if (is_new) known->second = UsualOf(GroupFor(moment, group, *role), *way, peers_.at(*role));
        if (known->second.has_value()) Compare(moment, edge, *known->second);
        if (!known->second.has_value()) not_compared_.push_back(edge);
      }
    }
  }

  // A wait that peers have no like of ends when nothing of its step is left to do, at the latest.
  uint32_t GroupFor(const OwnMoment& moment, uint32_t group, int64_t role) const {
    const auto has_like = [&](uint32_t peer) { return moments_.NodeIn(group, peer) != kNone; };
    const bool is_wait = graph_.nodes()[moment.node].kind == NodeKind::kEnd;
    if (!is_wait || std::ranges::any_of(peers_.at(role), has_like)) return group;
    const uint32_t end = moments_.StepsEnd(moment.trace, moment.step);
    return end == kNone ? group : moments_.GroupOf(end);
  }

  // Work that nothing is like may be all that a rank was late by, or nothing of it: neither is told
  // where that makes a difference of more than a tenth of what may be gained.
  Status CheckNotCompared() {
    if (not_compared_.empty()) return Done{};
    const int64_t least_ns = EndWith(WithoutNotCompared());
    const int64_t unknown_ns = DifferenceNs(EndWith(weights_), least_ns);
    const int64_t gain_ns = DifferenceNs(EndWith(graph_.weights()), least_ns);
    if (watch_.Asked()) return Done{};  // what was stopped is worth nothing
    if (unknown_ns <= kUnknownNsMax || unknown_ns <= gain_ns / 10) return Done{};
    const uint32_t first = not_compared_.front();
    const auto next = std::ranges::upper_bound(graph_.nodes(), first, {}, &Node::first_edge);
    const auto node = static_cast<uint32_t>(next - graph_.nodes().begin() - 1);
    const uint32_t trace = graph_.TraceOf(node);
    const int64_t rank = rows_.traces[trace].rank;
    return role_of_[trace].has_value() ? NothingAlike(rank) : NothingToCompare(rank);
  }

  EdgeTimes WithoutNotCompared() const {
    EdgeTimes least = weights_;
    for (const uint32_t edge : not_compared_) {
      if (least[edge] != kNoEdge) least.Set(edge, 0);
    }
    return least;
  }

  int64_t EndWith(const EdgeTimes& weights) {
    const std::vector<int64_t> times = graph_.Replay(weights, &watch_);
    return times.empty() ? 0 : *std::ranges::max_element(times);
  }

  static Error NothingAlike(int64_t rank) {
    return Error{ErrorKind::kQuery,
                 "other ranks do nothing like what rank " + std::to_string(rank) +
                     " does between its collectives: what it takes too long for cannot be told "
                     "from summaries, but from a database of all ranks' traces",
                 ""};
  }

  void Compare(const OwnMoment& moment, uint32_t edge, const Taken& usual) {
    const int64_t ns = graph_.weights()[edge] - usual.ns;
    // What waited for something else there is no measure of less, nor of how much is too long.
    if (ns < 0 && !usual.is_bound_alike) {
      not_compared_.push_back(edge);
      return;
    }
    const Of of{moment.trace, moment.step, graph_.kind(edge)};
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
    if (kind == EdgeKind::kOwnOfStep) return Way{kind, from_kind, kNone};
    if (kind != EdgeKind::kOwn && kind != EdgeKind::kOwnMeanwhile) return std::nullopt;
    if (from_kind == NodeKind::kLaunch) {
      const uint32_t part = rows_.calls[graph_.nodes()[from].owner].last_activity;
      if (part == kNone || moments_.StartOf(part) == kNone) return std::nullopt;
      return Way{kind, from_kind, moments_.GroupOf(moments_.StartOf(part))};
    }
    if (from_kind == NodeKind::kStepBegin || from_kind == NodeKind::kEnd) {
      return Way{kind, from_kind, moments_.GroupOf(from)};
    }
    if (from_kind != NodeKind::kStart && from_kind != NodeKind::kFinish) return std::nullopt;
    return Way{kind, from_kind, moments_.GroupOf(moments_.StartOf(graph_.nodes()[from].owner))};
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
    const uint32_t to = moments_.NodeIn(group, peer);
    if (to == kNone) return std::nullopt;
    const bool is_bound_alike = HasExact(to, way.kind);
    if (way.kind == EdgeKind::kLaunch) {
      const uint32_t call = rows_.activities[graph_.nodes()[to].owner].call;
      // After other work of its GPU it says nothing of the way from the host.
      if (call == kNone || !is_bound_alike) return std::nullopt;
      return Taken{At(to) - rows_.calls[call].start_ns, true};
    }
    if (way.kind == EdgeKind::kOwnOfStep) return OfStep(to, kNone);
    const uint32_t like = moments_.NodeIn(way.from_group, peer);
    if (like == kNone) return std::nullopt;
    // Also of a peer whose host is far ahead of its GPU.
    const std::optional<Taken> of_step = OfStep(to, like);
    if (of_step.has_value()) return of_step;
    const std::optional<int64_t> from_ns = FromNs(like, way);
    if (!from_ns.has_value()) return std::nullopt;
    const int64_t ns = waits_.OwnNs(peer, {*from_ns, At(to)});
    if (ns < 0) return std::nullopt;
    return Taken{ns, IsBoundAlike(to, way)};
  }

  // A host may be far ahead of its GPU: then its moments tell nothing. A part that waited for
  // others in its stream had its rank's own work done by then.
  bool IsBoundAlike(uint32_t node, const Way& way) const {
    const bool is_of_part = way.from == NodeKind::kStart || way.from == NodeKind::kFinish;
    if (is_of_part && HasExact(node, EdgeKind::kStream)) return true;
    for (uint32_t edge = graph_.first_edge(node); edge < graph_.end_edge(node); ++edge) {
      const bool binds = way.kind == EdgeKind::kOwnMeanwhile || IsExact(edge, node);
      if (binds && WayOf(edge, node) == way) return true;
    }
    return false;
  }

  // What it took from the begin of its step: this one, or any where that is kNone.
  std::optional<Taken> OfStep(uint32_t node, uint32_t begin) const {
    for (uint32_t edge = graph_.first_edge(node); edge < graph_.end_edge(node); ++edge) {
      if (graph_.kind(edge) != EdgeKind::kOwnOfStep) continue;
      if (begin == kNone || graph_.from(edge) == begin) return Taken{graph_.weights()[edge], true};
    }
    return std::nullopt;
  }

  // When the like of an edge began, whose source is one of these or of the part that starts there.
  std::optional<int64_t> FromNs(uint32_t like, const Way& way) const {
    if (way.from == NodeKind::kStepBegin || way.from == NodeKind::kEnd) return At(like);
    const uint32_t part = graph_.nodes()[like].owner;
    if (way.from == NodeKind::kLaunch) {
      const uint32_t call = rows_.activities[part].call;
      return call == kNone ? std::nullopt : std::optional(rows_.calls[call].start_ns);
    }
    return At(way.from == NodeKind::kFinish ? graph_.finish(part) : like);
  }

  bool HasExact(uint32_t node, EdgeKind kind) const {
    for (uint32_t edge = graph_.first_edge(node); edge < graph_.end_edge(node); ++edge) {
      if (graph_.kind(edge) != kind) continue;
      if (kind == EdgeKind::kOwnMeanwhile || IsExact(edge, node)) return true;
    }
    return false;
  }

  int64_t At(uint32_t node) const { return graph_.nodes()[node].at_ns; }

  const ReplayGraph& graph_;
  const JobRows& rows_;
  const Untold untold_;
  StopWatch& watch_;
  EdgeTimes& weights_;
  const OwnWaits& waits_;
  const OwnMoments& moments_;
  std::vector<std::optional<int64_t>> role_of_;     // by trace
  std::map<int64_t, std::vector<uint32_t>> peers_;  // traces, by role
  bool has_stages_ = false;
  std::vector<bool> is_late_;           // traces
  std::vector<uint32_t> not_compared_;  // edges
  std::map<Of, Excess> excess_;
  std::vector<Longer> longer_;
};

}  // namespace

Status EvenOwnWork(SqliteDb& db, const ReplayGraph& graph, const std::set<int64_t>& ranks,
                   const Lateness& late, Untold untold, OwnTimes& times, StopWatch& watch,
                   EdgeTimes& weights) {
  if (late.steps.empty()) return Done{};
  if (!times.moments.has_value()) {
    TRACEDB_ASSIGN(names, ActivityNames::Read(db, graph.rows()));
    times.waits.emplace(graph);
    times.moments.emplace(graph, names);
  }
  return OwnWork(graph, times, untold, watch, weights).Even(db, ranks, late);
}

}  // namespace tracedb
