// The steps of a replay, and the critical path of each.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
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

// The nodes that begin and end steps: found once for a graph, which may be replayed once a rank.
class StepNodes {
 public:
  explicit StepNodes(const ReplayGraph& graph);

  // By step; `times` are when each node happens.
  std::vector<StepBounds> Bounds(const std::vector<int64_t>& times) const;
  std::vector<ReplayedStep> Steps(const std::vector<int64_t>& times) const;
  // The same of each of several replays: so many times a node, side by side.
  std::vector<std::vector<ReplayedStep>> StepsOfLanes(const std::vector<int64_t>& times,
                                                      size_t lanes) const;

 private:
  struct Mark {
    uint32_t node;
    uint32_t step : 31;  // in steps_
    uint32_t is_begin : 1;
  };
  std::vector<std::vector<StepBounds>> BoundsOfLanes(const std::vector<int64_t>& times,
                                                     size_t lanes) const;

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
