#include "replay/peers/host_stretches.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "replay/graph/host_steps.h"
#include "tracedb/base/interval.h"

namespace tracedb {
namespace {

class StretchFinder {
 public:
  StretchFinder(const ReplayGraph& graph, const ActivityNames& names)
      : graph_(graph), names_(names), steps_(graph) {}

  void ForEach(const std::function<void(const HostStretch&)>& use) {
    for (uint32_t node = 0; node < graph_.nodes().size(); ++node) {
      const NodeKind kind = graph_.nodes()[node].kind;
      if (!graph_.IsOfHost(node)) continue;
      const int64_t step = steps_.At(node);
      if (kind == NodeKind::kHoldBegin || kind == NodeKind::kHoldEnd) continue;
      for (uint32_t edge = graph_.first_edge(node); edge < graph_.end_edge(node); ++edge) {
        if (!IsWork(edge, node)) continue;
        std::optional<HostStretch> stretch = StretchOf(edge);
        if (!stretch.has_value()) continue;
        stretch->peer.key = KeyOf(stretch->from, node);
        stretch->peer.step = step;
        stretch->peer.order_ns = graph_.nodes()[node].at_ns;
        stretch->peer.trace = graph_.TraceOf(node);
        use(*stretch);
      }
    }
  }

 private:
  // An edge, and what is before it where it comes out of a hold; nothing where nothing is.
  std::optional<HostStretch> StretchOf(uint32_t edge) const {
    HostStretch stretch{{}, graph_.from(edge), graph_.weights()[edge], {}};
    stretch.peer.edge = edge;
    while (graph_.nodes()[stretch.from].kind == NodeKind::kHoldEnd) {
      const uint32_t begin = graph_.from(graph_.first_edge(stretch.from));
      stretch.from = kNone;
      for (uint32_t into = graph_.first_edge(begin); into < graph_.end_edge(begin); ++into) {
        if (!IsWork(into, begin)) continue;
        stretch.held.push_back(into);
        stretch.from = graph_.from(into);
        stretch.work_ns = SumNs(stretch.work_ns, graph_.weights()[into]);
        break;
      }
      if (stretch.from == kNone) return std::nullopt;
    }
    return stretch;
  }

  // An edge that says no more than which comes first has another weight.
  bool IsWork(uint32_t edge, uint32_t node) const {
    return IsHost(graph_.kind(edge)) && graph_.weights()[edge] == graph_.WorkNs(edge, node);
  }

  int64_t KeyOf(uint32_t from, uint32_t node) {
    const bool is_one = graph_.ThreadOf(from) == graph_.ThreadOf(node);
    const auto [kind, name] = MomentOf(node);
    const auto [from_kind, from_name] = MomentOf(from);
    const auto next = static_cast<int64_t>(keys_.size());
    return keys_
        .emplace(std::array<int64_t, 5>{is_one ? 0 : 1, kind, name, from_kind, from_name}, next)
        .first->second;
  }

  // Kind of the node, and the name of the activity that its call launched; 0: of none.
  std::pair<int64_t, int64_t> MomentOf(uint32_t node) const {
    const Node& here = graph_.nodes()[node];
    const uint32_t launched = graph_.rows().calls[here.owner].last_activity;
    const int64_t name = launched == kNone ? 0 : names_.Of(graph_.rows().activities[launched]);
    return {static_cast<int64_t>(here.kind), name};
  }

  const ReplayGraph& graph_;
  const ActivityNames& names_;
  CurrentSteps steps_;
  std::map<std::array<int64_t, 5>, int64_t> keys_;
};

}  // namespace

void NumberPeers(std::vector<PeerEdge>& peers) {
  const auto in_step = [](const PeerEdge& p) { return std::tie(p.key, p.trace, p.step); };
  std::stable_sort(peers.begin(), peers.end(), [&](const PeerEdge& a, const PeerEdge& b) {
    return in_step(a) != in_step(b) ? in_step(a) < in_step(b) : a.order_ns < b.order_ns;
  });
  for (auto first = peers.begin(); first != peers.end();) {
    const auto last = std::find_if(
        first, peers.end(), [&](const PeerEdge& p) { return in_step(p) != in_step(*first); });
    for (auto peer = first; peer != last; ++peer) {
      peer->number = static_cast<uint32_t>(peer - first);
      peer->count = static_cast<uint32_t>(last - first);
    }
    first = last;
  }
  std::sort(peers.begin(), peers.end(), [](const PeerEdge& a, const PeerEdge& b) {
    return std::tie(a.key, a.count, a.number, a.edge) < std::tie(b.key, b.count, b.number, b.edge);
  });
}

void ForEachHostStretch(const ReplayGraph& graph, const ActivityNames& names,
                        const std::function<void(const HostStretch& stretch)>& use) {
  StretchFinder(graph, names).ForEach(use);
}

}  // namespace tracedb
