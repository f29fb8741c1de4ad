#include "replay/graph/node_order.h"

#include <algorithm>
#include <limits>
#include <tuple>

namespace tracedb {
namespace {

// At one time; a finish of no length comes after its start.
uint8_t OrderOf(NodeKind kind, bool lasts) {
  switch (kind) {
    case NodeKind::kFinish:
      return lasts ? 0 : 9;
    case NodeKind::kHoldEnd:
      return 1;
    case NodeKind::kEnd:
      return 2;
    case NodeKind::kStepEnd:
      return 3;
    case NodeKind::kStepBegin:
      return 4;
    case NodeKind::kLaunch:
    case NodeKind::kBegin:
      return 5;
    case NodeKind::kHoldBegin:
      return 6;
    case NodeKind::kStart:
      return 7;
    case NodeKind::kMeet:
      break;
  }
  return 8;
}

// What tells nodes of one time apart.
struct Place {
  uint8_t order;
  uint32_t trace;  // of host nodes
  int64_t id;      // of the slice, or of a collective's first part
};

Place PlaceOf(const JobRows& rows, const Node& node) {
  switch (node.kind) {
    case NodeKind::kFinish:
    case NodeKind::kStart: {
      const Activity& a = rows.activities[node.owner];
      return {OrderOf(node.kind, a.finish_ns > a.start_ns), 0, a.slice_id};
    }
    case NodeKind::kMeet: {
      const Collective& c = rows.collectives[node.owner];
      return {OrderOf(node.kind, true), 0, rows.activities[rows.parts[c.first_part]].slice_id};
    }
    default: {
      const Call& c = rows.calls[node.owner];
      return {OrderOf(node.kind, true), rows.TraceOf(c), c.slice_id};
    }
  }
}

// Of two nodes of one time: times are compared first, as most differ, and need no row.
bool IsBefore(const JobRows& rows, const Node& a, const Node& b) {
  const Place x = PlaceOf(rows, a);
  const Place y = PlaceOf(rows, b);
  // Moments of collectives alone have no slice: theirs is the order of their rows, by trace.
  const uint32_t a_owner = a.owner, b_owner = b.owner;
  return std::tie(x.order, x.trace, x.id, a_owner) < std::tie(y.order, y.trace, y.id, b_owner);
}

constexpr uint32_t kOwnerBits = (uint32_t{1} << 28) - 1;

size_t NodesOf(const JobRows& rows) {
  size_t nodes = 2 * rows.activities.size() + rows.collectives.size();
  for (const Call& c : rows.calls) {
    nodes += c.kind == CallKind::kStreamWait ? 0 : c.kind == CallKind::kLaunch ? 1 : 2;
  }
  return nodes;
}

}  // namespace

void OrderNodes(const JobRows& rows, std::vector<Node>& nodes) {
  nodes.reserve(NodesOf(rows));
  const auto add = [&](int64_t at_ns, NodeKind kind, size_t owner) {
    Node node{at_ns, 0, 0, kind};
    node.owner = static_cast<uint32_t>(owner) & kOwnerBits;
    nodes.push_back(node);
  };
  for (size_t i = 0; i < rows.activities.size(); ++i) {
    const Activity& a = rows.activities[i];
    add(a.start_ns, NodeKind::kStart, i);
    add(a.finish_ns, NodeKind::kFinish, i);
  }
  for (size_t i = 0; i < rows.calls.size(); ++i) {
    const Call& c = rows.calls[i];
    const auto add_call = [&](NodeKind begin, NodeKind end) {
      add(c.start_ns, begin, i);
      add(c.end_ns, end, i);
    };
    switch (c.kind) {
      case CallKind::kStreamWait:
        break;  // no node
      case CallKind::kLaunch:
        add(c.start_ns, NodeKind::kLaunch, i);
        break;
      case CallKind::kStep:
        add_call(NodeKind::kStepBegin, NodeKind::kStepEnd);
        break;
      case CallKind::kHold:
        add_call(NodeKind::kHoldBegin, NodeKind::kHoldEnd);
        break;
      case CallKind::kWait:
      case CallKind::kWaitForAll:
        add_call(NodeKind::kBegin, NodeKind::kEnd);
        break;
    }
  }
  for (size_t i = 0; i < rows.collectives.size(); ++i) {
    const Collective& c = rows.collectives[i];
    int64_t at_ns = std::numeric_limits<int64_t>::min();
    for (uint32_t p = 0; p < c.part_count; ++p) {
      at_ns = std::max(at_ns, rows.activities[rows.parts[c.first_part + p]].start_ns);
    }
    add(at_ns, NodeKind::kMeet, i);
  }
  std::sort(nodes.begin(), nodes.end(), [&](const Node& a, const Node& b) {
    return a.at_ns != b.at_ns ? a.at_ns < b.at_ns : IsBefore(rows, a, b);
  });
}

}  // namespace tracedb
