// Stretches of work of the hosts, and which of them are alike: MODEL.md, "Ideal".
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "replay/graph/replay_graph.h"
#include "replay/peers/activity_names.h"

namespace tracedb {

// One edge that has peers: the same key, the same number among those of its trace and step, and
// as many of them there.
struct PeerEdge {
  int64_t key;
  int64_t step;
  int64_t order_ns;
  uint32_t trace;
  uint32_t edge;
  uint32_t number = 0;
  uint32_t count = 0;
};

// Fills number and count, and sorts by key, count, number and edge.
void NumberPeers(std::vector<PeerEdge>& peers);

struct HostStretch {
  PeerEdge peer;
  uint32_t from;               // node
  int64_t work_ns;             // without what the recorder took of it
  std::vector<uint32_t> held;  // edges into nodes where it held the thread up
};

// Each edge that is all the time between two nodes of hosts. One that comes out of a hold of the
// recorder is joined with what is before that.
void ForEachHostStretch(const ReplayGraph& graph, const ActivityNames& names,
                        const std::function<void(const HostStretch& stretch)>& use);

}  // namespace tracedb
