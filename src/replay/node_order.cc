#include "replay/node_order.h"

#include <algorithm>
#include <limits>

namespace tracedb {
namespace {

struct NodeKey {
  int64_t at_ns;
  int64_t id;  // of the slice, or of a collective's first part
  uint32_t trace;
  uint32_t owner;
  uint8_t order;
  NodeKind kind;
};

bool operator<(const NodeKey& a, const NodeKey& b) {
  if (a.at_ns != b.at_ns) return a.at_ns < b.at_ns;
  if (a.order != b.order) return a.order < b.order;
  return a.trace != b.trace ? a.trace < b.trace : a.id < b.id;
}

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

}  // namespace

void OrderNodes(const JobRows& rows, std::vector<Node>& nodes) {
  std::vector<NodeKey> keys;
  keys.reserve(2 * rows.activities.size() + rows.calls.size() + rows.collectives.size());
  const auto add = [&](int64_t at_ns, NodeKind kind, uint32_t trace, int64_t id, size_t owner,
                       bool lasts = true) {
    keys.push_back({at_ns, id, trace, static_cast<uint32_t>(owner), OrderOf(kind, lasts), kind});
  };
  for (size_t i = 0; i < rows.activities.size(); ++i) {
    const Activity& a = rows.activities[i];
    add(a.start_ns, NodeKind::kStart, 0, a.slice_id, i);
    add(a.finish_ns, NodeKind::kFinish, 0, a.slice_id, i, a.finish_ns > a.start_ns);
  }
  for (size_t i = 0; i < rows.calls.size(); ++i) {
    const Call& c = rows.calls[i];
    const auto add_call = [&](NodeKind begin, NodeKind end) {
      add(c.start_ns, begin, c.trace, c.slice_id, i);
      add(c.end_ns, end, c.trace, c.slice_id, i);
    };
    switch (c.kind) {
      case CallKind::kStreamWait:
        break;  // no node
      case CallKind::kLaunch:
        add(c.start_ns, NodeKind::kLaunch, c.trace, c.slice_id, i);
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
    add(at_ns, NodeKind::kMeet, 0, rows.activities[rows.parts[c.first_part]].slice_id, i);
  }
  std::sort(keys.begin(), keys.end());
  nodes.reserve(keys.size());
  for (const NodeKey& key : keys) nodes.push_back({key.at_ns, 0, 0, key.owner, key.kind});
}

}  // namespace tracedb
