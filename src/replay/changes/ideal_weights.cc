#include "replay/changes/ideal_weights.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "replay/graph/host_steps.h"
#include "replay/peers/activity_names.h"
#include "replay/peers/host_stretches.h"
#include "replay/peers/peer_times.h"
#include "tracedb/base/interval.h"
#include "tracedb/schema/event_tables.h"

namespace tracedb {
namespace {

using Peer = PeerEdge;
using Peers = std::vector<Peer>;
using PeerRange = std::pair<Peers::const_iterator, Peers::const_iterator>;

bool IsMet(const ReplayGraph& graph, uint32_t node) {
  for (uint32_t edge = graph.first_edge(node); edge < graph.end_edge(node); ++edge) {
    if (graph.kind(edge) == EdgeKind::kTransfer) return true;
  }
  return false;
}

class PeerFinder {
 public:
  PeerFinder(SqliteDb& db, const ReplayGraph& graph)
      : db_(db), graph_(graph), rows_(graph.rows()), ideal_(graph.edge_count(), kNoEdge) {}

  Result<std::vector<int64_t>> Find() {
    TRACEDB_ASSIGN(names, ActivityNames::Read(db_, rows_));
    names_.emplace(std::move(names));
    FindActivities();
    FindHost();
    TRACEDB_TRY(FindTransfers());
    return std::move(ideal_);
  }

 private:
  int64_t NameOf(uint32_t activity) const { return names_->Of(rows_.activities[activity]); }

  // Kernels and copies: the mean.
  void FindActivities() {
    Peers peers;
    for (uint32_t node = 0; node < graph_.nodes().size(); ++node) {
      const Node& here = graph_.nodes()[node];
      if (here.kind != NodeKind::kFinish) continue;
      const Activity& activity = rows_.activities[here.owner];
      if (activity.kind != GpuKind::kCompute && activity.kind != GpuKind::kMemory) {
        continue;
      }
      const int64_t order_ns =
          activity.call == kNone ? activity.start_ns : rows_.calls[activity.call].start_ns;
      peers.push_back({NameOf(here.owner), rows_.StepOf(activity), order_ns,
                       rows_.TraceOf(activity), graph_.first_edge(node)});
    }
    NumberPeers(peers);
    ForEachRange(peers, IsOfKey, [&](PeerRange named) {
      const bool is_shared = IsOfSeveralRanks(named);
      const int64_t name_ns = is_shared ? MeanNs(TakenBy(named)) : 0;
      ForEachRange(named, IsAlike, [&](PeerRange alike) {
        // Where other ranks run it, but never as that number, all of the name are peers.
        const bool is_by_name = is_shared && !IsOfSeveralRanks(alike);
        Set(alike, is_by_name ? name_ns : MeanNs(TakenBy(alike)));
      });
    });
  }

  // Stretches of the host: the median.
  void FindHost() {
    for (uint32_t node = 0; node < graph_.nodes().size(); ++node) {
      if (graph_.nodes()[node].kind == NodeKind::kHoldEnd) ideal_[graph_.first_edge(node)] = 0;
    }
    Peers peers;
    ForEachHostStretch(graph_, *names_, [&](const HostStretch& stretch) {
      peers.push_back(stretch.peer);
      if (!stretch.held.empty()) cut_.emplace(stretch.peer.edge, stretch);
    });
    NumberPeers(peers);
    ForEachRange(peers, IsAlike, [&](PeerRange alike) {
      if (!IsOfSeveralRanks(alike)) return;
      Set(alike, MedianNs(TakenBy(alike)));
      for (auto peer = alike.first; peer != alike.second; ++peer) {
        const auto cut = cut_.find(peer->edge);
        if (cut == cut_.end()) continue;
        for (const uint32_t edge : cut->second.held) ideal_[edge] = 0;
      }
    });
  }

  // Of collectives that have a meet: the median.
  Status FindTransfers() {
    TRACEDB_ASSIGN(like, ReadTransfers());
    Peers peers;
    for (uint32_t node = 0; node < graph_.nodes().size(); ++node) {
      const Node& here = graph_.nodes()[node];
      if (here.kind != NodeKind::kFinish || !IsMet(graph_, node)) continue;
      const Activity& activity = rows_.activities[here.owner];
      const auto key = like.find(activity.slice_id);
      if (key == like.end()) continue;
      peers.push_back({key->second, rows_.StepOf(activity), 0, rows_.TraceOf(activity),
                       graph_.first_edge(node)});
    }
    std::sort(peers.begin(), peers.end(),
              [](const Peer& a, const Peer& b) { return a.key < b.key; });
    ForEachRange(peers, IsOfKey, [&](PeerRange alike) {
      const int64_t median_ns = MedianNs(TakenBy(alike));
      Set(alike, median_ns);
      // That from the meet, which is the next and weighs the same.
      for (auto peer = alike.first; peer != alike.second; ++peer) {
        ideal_[peer->edge + 1] = median_ns;
      }
    });
    return Done{};
  }

  // Parts of collectives: by slice_id a number for their like.
  Result<std::unordered_map<int64_t, int64_t>> ReadTransfers() {
    std::unordered_map<int64_t, int64_t> like;
    std::unordered_map<std::string, int64_t> keys;
    TRACEDB_ASSIGN(rows, db_.Prepare("SELECT p.id, json_array(p.collective, p.in_bytes, "
                                     "p.out_bytes, ifnull(g.parallelism, 'other')) "
                                     "FROM _collective_part p "
                                     "LEFT JOIN _process_group g ON g.group_id = p.group_id "
                                     "WHERE p.id BETWEEN (SELECT first_row FROM _trace "
                                     "WHERE trace_id = ?1) AND (SELECT last_row FROM _trace "
                                     "WHERE trace_id = ?1)"));
    for (const JobTrace& trace : rows_.traces) {
      TRACEDB_TRY(rows.Bind(1, trace.trace_id));
      for (;;) {
        TRACEDB_ASSIGN(any, rows.Step());
        if (!any) break;
        const auto next = static_cast<int64_t>(keys.size());
        like[rows.Int(0)] = keys.emplace(rows.Text(1), next).first->second;
      }
      rows.Reset();
    }
    return like;
  }

  static bool IsOfKey(const Peer& a, const Peer& b) { return a.key == b.key; }
  static bool IsAlike(const Peer& a, const Peer& b) {
    return std::tie(a.key, a.count, a.number) == std::tie(b.key, b.count, b.number);
  }

  template <typename Same, typename Use>
  static void ForEachRange(PeerRange peers, const Same& same, const Use& use) {
    while (peers.first != peers.second) {
      const auto end = std::find_if(peers.first, peers.second,
                                    [&](const Peer& p) { return !same(*peers.first, p); });
      use(PeerRange{peers.first, end});
      peers.first = end;
    }
  }
  template <typename Same, typename Use>
  static void ForEachRange(const Peers& peers, const Same& same, const Use& use) {
    ForEachRange(PeerRange{peers.begin(), peers.end()}, same, use);
  }

  bool IsOfSeveralRanks(PeerRange peers) const {
    const int64_t rank = rows_.traces[peers.first->trace].rank;
    return std::any_of(peers.first, peers.second,
                       [&](const Peer& peer) { return rows_.traces[peer.trace].rank != rank; });
  }

  std::vector<int64_t> TakenBy(PeerRange peers) const {
    std::vector<int64_t> taken;
    taken.reserve(static_cast<size_t>(peers.second - peers.first));
    for (auto peer = peers.first; peer != peers.second; ++peer) {
      const auto cut = cut_.find(peer->edge);
      taken.push_back(cut == cut_.end() ? graph_.weights()[peer->edge] : cut->second.work_ns);
    }
    return taken;
  }

  void Set(PeerRange peers, int64_t weight_ns) {
    for (auto peer = peers.first; peer != peers.second; ++peer) ideal_[peer->edge] = weight_ns;
  }

  SqliteDb& db_;
  const ReplayGraph& graph_;
  const JobRows& rows_;
  std::vector<int64_t> ideal_;                     // kNoEdge: without peers
  std::unordered_map<uint32_t, HostStretch> cut_;  // by edge: those that the recorder cut
  std::optional<ActivityNames> names_;
};

constexpr uint32_t kHostKind = kGpuKindNames.size();  // the kinds of activities come before
constexpr uint32_t kKindBits = 7;
constexpr uint32_t kTraceBits = (uint32_t{1} << 29) - 1;

// A kernel that waits has no peers.
std::optional<uint32_t> KindOf(std::string_view ideal) {
  if (ideal == "host") return kHostKind;
  const auto named = std::find(kGpuKindNames.begin(), kGpuKindNames.end(), ideal);
  const auto kind = static_cast<uint32_t>(named - kGpuKindNames.begin());
  if (named == kGpuKindNames.end()) return std::nullopt;
  if (static_cast<GpuKind>(kind) == GpuKind::kWaiting) return std::nullopt;
  return kind;
}

}  // namespace

// A job is replayed once a rank with all others ideal: what is read of the graph each time is kept.
Result<std::vector<IdealWeights::Likened>> IdealWeights::Find(SqliteDb& db) const {
  TRACEDB_ASSIGN(ideal, PeerFinder(db, graph_).Find());
  const JobRows& rows = graph_.rows();
  std::vector<Likened> likened;
  likened.reserve(ideal.size() -
                  static_cast<size_t>(std::count(ideal.begin(), ideal.end(), kNoEdge)));
  CurrentSteps steps(graph_);
  for (uint32_t node = 0; node < graph_.nodes().size(); ++node) {
    const Node& here = graph_.nodes()[node];
    const bool is_host = graph_.IsOfHost(node);
    if (!is_host && here.kind != NodeKind::kFinish) continue;
    const int64_t step = is_host ? steps.At(node) : rows.StepOf(rows.activities[here.owner]);
    const uint32_t kind =
        is_host ? kHostKind : static_cast<uint32_t>(rows.activities[here.owner].kind);
    for (uint32_t edge = graph_.first_edge(node); edge < graph_.end_edge(node); ++edge) {
      if (ideal[edge] == kNoEdge) continue;
      Likened& next = likened.emplace_back();
      next.ideal_ns = ideal[edge];
      next.step = step;
      next.edge = edge;
      next.trace = graph_.TraceOf(node) & kTraceBits;
      next.kind = kind & kKindBits;
    }
  }
  return likened;
}

Status IdealWeights::Apply(SqliteDb& db, const Change& change, EdgeTimes& weights) {
  const bool is_all = change.ideal == "all";
  const std::optional<uint32_t> wanted = KindOf(change.ideal);
  if (!is_all && !wanted.has_value()) {
    return NotUnderstood("ideal: all, compute, communication, memory or host is wanted");
  }
  if (!likened_.has_value()) {
    TRACEDB_ASSIGN(found, Find(db));
    likened_ = std::move(found);
  }
  std::vector<uint8_t> is_asked_for;  // by trace
  for (const JobTrace& trace : graph_.rows().traces) {
    is_asked_for.push_back(trace.rank == change.rank.value_or(trace.rank) &&
                           trace.rank != change.except_rank);
  }
  for (const Likened& each : *likened_) {
    if (is_asked_for[each.trace] == 0) continue;
    if (!is_all && each.kind != *wanted) continue;
    if (change.step.has_value() && each.step != *change.step) continue;
    if (weights[each.edge] != kNoEdge) weights.Set(each.edge, each.ideal_ns);
  }
  return Done{};
}

std::vector<LaneWeight> IdealWeights::Recorded(const std::map<int64_t, uint32_t>& lanes) const {
  constexpr uint32_t kNoLane = std::numeric_limits<uint32_t>::max();
  std::vector<uint32_t> lane_of;  // by trace
  for (const JobTrace& trace : graph_.rows().traces) {
    const auto lane = lanes.find(trace.rank);
    lane_of.push_back(lane != lanes.end() ? lane->second : kNoLane);
  }
  std::vector<LaneWeight> recorded;
  for (const Likened& each : likened_.value()) {
    if (lane_of[each.trace] == kNoLane) continue;
    const int64_t weight_ns = graph_.weights()[each.edge];
    if (weight_ns == kNoEdge || weight_ns == each.ideal_ns) continue;
    recorded.push_back({weight_ns, each.edge, lane_of[each.trace]});
  }
  return recorded;
}

}  // namespace tracedb
