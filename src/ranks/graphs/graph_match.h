// Which capture a graph was made from, if the data tells: one that fits, or several that mean the
// same. What does not fit is refused with a reason; nothing is guessed.
//
// Two captures were recorded: of batch size 8 (gemm 128 wide, add, all-reduce) and of 16 (gemm 256
// wide, add, all-reduce). A replay ran gemm, add and all-reduce; the gemm's grid is that of the
// first: the graph is of batch size 8, and its gemm belongs to the operator that launched the first
// launch of that capture. If the grids fitted both, it would be refused, unless both launched each
// kernel from the same operators. On several streams the replay's order in time is one of those
// that the capture's streams allow, which a search finds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ranks/graphs/graph_events.h"
#include "tracedb/base/result.h"
#include "tracedb/memory/load_limits.h"

namespace tracedb {

// The activities of a replay by stream, and in which order the streams are put: replays with the
// same signature have the same kernels in the same places.
struct ReplayStreams {
  std::vector<std::vector<uint32_t>> nodes;  // places in the list of nodes, by stream
  uint64_t signature = 0;
  uint64_t composition = 0;  // the same whatever the streams and the order

  static ReplayStreams Of(const std::vector<ReplayedNode>& nodes);
};

struct GraphDecision {
  std::string source;  // capture, capture file, eager; empty: refused
  std::string reason;  // why it is refused
  int64_t capture_id = 0;
  int64_t capture_path = 0;     // on which it was begun: what is above is not the graph's
  std::vector<NodePath> paths;  // of each activity, stream after stream
};

class GraphMatcher {
 public:
  static Result<GraphMatcher> Open(GraphEvents& events, const GraphTrace& trace,
                                   const GraphLimits& limits);

  // A model may be captured in pieces, layer by layer, that are alike. Pieces of one batch size, as
  // both sides name it, are replayed in the order in which they were captured: where every replay
  // fits the piece whose turn it is, several that fit are told apart by that.
  Status FindTurns(const std::vector<GraphReplay>& replays, size_t nodes_max);
  // So many pieces a batch size has; 0: their order says nothing.
  int64_t PiecesOf(int64_t batch) const;

  Result<GraphDecision> Decide(const GraphReplay& replay, const std::vector<ReplayedNode>& nodes,
                               const ReplayStreams& streams);

 private:
  struct Asked {
    const GraphReplay& replay;
    std::vector<std::vector<NodeKey>> streams;
    std::vector<std::vector<NodeKey>> by_node_id;  // one stream; empty: without ids
    std::vector<uint32_t> place_of;                // of what by_node_id has, stream after stream
    size_t nodes = 0;
    uint64_t names = 0;
  };
  struct Fit {
    std::vector<NodePath> paths;
    std::vector<uint64_t> meanings;
    std::string refusal;  // empty: it fits
  };

  GraphMatcher(GraphEvents& events, const GraphTrace& trace, const GraphLimits& limits)
      : events_(&events), trace_(&trace), limits_(limits) {}
  Result<Fit> Try(const GraphCapture& capture, const Asked& asked);
  Result<GraphDecision> ByCaptures(const Asked& asked, bool own_trace);
  Result<GraphDecision> ByEager(const Asked& asked);
  Result<GraphDecision> ByTurn(const Asked& asked);
  Result<Asked> Ask(const GraphReplay& replay, const std::vector<ReplayedNode>& nodes,
                    const ReplayStreams& streams);
  Result<std::vector<LaunchList>> WindowsFor(const Asked& asked);
  Fit InOrder(const LaunchList& list, const Asked& asked) const;

  GraphEvents* events_;
  const GraphTrace* trace_;
  GraphLimits limits_;
  std::vector<GraphCapture> captures_;
  bool too_many_captures_ = false;
  std::map<int64_t, std::vector<size_t>> pieces_;  // places in captures_, by batch size
  std::optional<std::vector<LaunchList>> eager_;
};

}  // namespace tracedb
