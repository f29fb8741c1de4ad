// The steps of a replay, and the critical path of each.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "replay/graph/replay_graph.h"
#include "tracedb/replay/job_replay.h"

namespace tracedb {

struct StepBounds {
  int64_t step = kNoStep;  // kNoStep: the capture has none, and is taken as one
  int64_t end_ns = std::numeric_limits<int64_t>::min();
  int64_t begin_ns = std::numeric_limits<int64_t>::min();  // latest step-begin
  uint32_t last = kNone;                                   // the first node that ends it
};

// When each node happens: one replay's times, or those of one of several, side by side.
class NodeTimes {
 public:
  NodeTimes(const std::vector<int64_t>& times) : NodeTimes(times, 0, 1) {}
  static NodeTimes OfLane(const std::vector<int64_t>& times, size_t lane, size_t lanes) {
    return NodeTimes(times, lane, lanes);
  }
  size_t size() const { return times_.size() / lanes_; }
  int64_t operator[](size_t node) const { return times_[node * lanes_ + lane_]; }

 private:
  NodeTimes(const std::vector<int64_t>& times, size_t lane, size_t lanes)
      : times_(times), lane_(lane), lanes_(lanes) {}
  std::span<const int64_t> times_;
  size_t lane_;
  size_t lanes_;
};

// The nodes that begin and end steps: found once for a graph, which may be replayed once a rank.
class StepNodes {
 public:
  explicit StepNodes(const ReplayGraph& graph);

  // By step.
  std::vector<StepBounds> Bounds(NodeTimes times) const;
  std::vector<ReplayedStep> Steps(NodeTimes times) const;

 private:
  struct Mark {
    uint32_t node;
    uint32_t step : 31;  // in steps_
    uint32_t is_begin : 1;
  };
  std::vector<int64_t> steps_;
  std::vector<Mark> marks_;  // in the order of nodes
};

// The critical path, one step after the other: that of all steps takes more than the graph.
class StepPaths {
 public:
  // The graph must outlive this.
  StepPaths(const ReplayGraph& graph, const StepNodes& steps, EdgeTimes weights,
            std::vector<int64_t> times);
  ~StepPaths();

  // The pieces of the next step, in the order of time; false: there is none.
  bool Next(std::vector<PathPiece>& pieces);

 private:
  struct Ends;
  const ReplayGraph& graph_;
  const EdgeTimes weights_;
  const std::vector<int64_t> times_;
  const std::unique_ptr<Ends> ends_;
  size_t next_ = 0;
};

}  // namespace tracedb
