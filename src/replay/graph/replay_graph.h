// A capture as a graph of moments (MODEL.md), and the replay of it.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "replay/graph/edge_times.h"
#include "replay/graph/job_rows.h"
#include "tracedb/base/result.h"

namespace tracedb {

// In the order of nodes at one time, but for kFinish, which comes first where it lasts.
enum class NodeKind : uint8_t {
  kFinish,
  kHoldEnd,
  kEnd,
  kStepEnd,
  kStepBegin,
  kLaunch,
  kBegin,
  kHoldBegin,
  kStart,
  kMeet,
};

struct Node {
  int64_t at_ns;
  uint32_t first_edge;
  // Of kFinish, kStart an activity; of kMeet a collective; else a call.
  uint32_t owner : 28;
  NodeKind kind : 4;
};
static_assert(sizeof(Node) == 16);  // there are three for each GPU activity

enum class EdgeKind : uint8_t {
  kHost,      // a thread goes on
  kHandover,  // a thread goes on where another had worked
  kRecorder,  // the profiler held up a thread
  kSync,      // a call returns when an activity has ended, or has made room in its queue
  kLaunch,
  kStream,    // the activity before it on its stream
  kWait,      // one of another stream, for which its stream was told to wait
  kInferred,  // one of another stream, that ended just before
  kRun,       // start to finish
  kTransfer,  // meet to finish
  kMeet,      // start to meet
  // Of collectives alone, what a rank does by itself:
  kOwn,           // after a part, to what waited for it
  kOwnMeanwhile,  // from the start of that part, as far as it was done while the part ran
  kOwnOfStep,     // from the begin of a step to its first part
};

class StopWatch;

class ReplayGraph {
 public:
  // Of rows that fit; nodes and edges are as MODEL.md says. What a watch has stopped, here and in
  // Replay, is worth nothing.
  static ReplayGraph Build(JobRows rows, StopWatch* watch = nullptr);
  // The same of rows of a gathered database.
  static ReplayGraph BuildOfCollectives(JobRows rows, StopWatch* watch = nullptr);
  // Of nodes in an order in which every edge leads to a later one; each node's edges are from its
  // first_edge to that of the next. Only Replay and BindingEdge know what to do with it.
  static ReplayGraph Of(std::vector<Node> nodes, std::vector<uint32_t> from,
                        std::vector<EdgeKind> kinds, EdgeTimes weights);

  const JobRows& rows() const { return rows_; }
  const std::vector<Node>& nodes() const { return nodes_; }  // in the order of time
  size_t edge_count() const { return from_.size(); }
  uint32_t first_edge(uint32_t node) const { return nodes_[node].first_edge; }
  uint32_t end_edge(uint32_t node) const {
    return node + 1 < nodes_.size() ? nodes_[node + 1].first_edge
                                    : static_cast<uint32_t>(from_.size());
  }
  // The node where an activity of JobRows ends. A graph made by Of, or stopped, has none.
  uint32_t finish(uint32_t activity) const { return finishes_[activity]; }
  uint32_t from(uint32_t edge) const { return from_[edge]; }
  EdgeKind kind(uint32_t edge) const { return kinds_[edge]; }
  const EdgeTimes& weights() const { return weights_; }
  // By node: what starts later than it could.
  const std::vector<std::pair<uint32_t, int64_t>>& lags() const { return lags_; }

  // How long before a node of a host its host may have worked on an edge that leads there: since
  // the node before, or since there was room in the queue that this one had found full.
  int64_t WorkNs(uint32_t edge, uint32_t node) const;

  // When each node would happen, with these weights of the edges.
  std::vector<int64_t> Replay(const EdgeTimes& weights, StopWatch* watch = nullptr) const;
  // The same into `times`, whose memory is used again.
  void Replay(const EdgeTimes& weights, StopWatch* watch, std::vector<int64_t>& times) const;
  // The edge that a node waited for the longest; kNone: it has none.
  uint32_t BindingEdge(uint32_t node, const EdgeTimes& weights,
                       const std::vector<int64_t>& times) const;
  // Not of an activity, nor of a collective.
  bool IsOfHost(uint32_t node) const {
    const NodeKind kind = nodes_[node].kind;
    return kind != NodeKind::kFinish && kind != NodeKind::kStart && kind != NodeKind::kMeet;
  }
  uint32_t ThreadOf(uint32_t node) const;  // kNone where it is not of the host
  uint32_t TraceOf(uint32_t node) const;

 private:
  friend class GraphBuilder;
  friend class CollectiveBuilder;
  JobRows rows_;
  std::vector<Node> nodes_;
  std::vector<uint32_t> from_;
  std::vector<EdgeKind> kinds_;
  EdgeTimes weights_;
  std::vector<std::pair<uint32_t, int64_t>> lags_;
  std::vector<uint32_t> finishes_;  // nodes, by activity
};

}  // namespace tracedb
