// The steps of a replay, and the critical path of each.
#pragma once

#include <memory>
#include <vector>

#include "replay/replay_graph.h"
#include "tracedb/replay/job_replay.h"

namespace tracedb {

std::vector<ReplayedStep> StepsOf(const ReplayGraph& graph, const std::vector<int64_t>& times);

// The critical path, one step after the other: that of all steps takes more than the graph.
class StepPaths {
 public:
  // The graph must outlive this.
  StepPaths(const ReplayGraph& graph, std::vector<int64_t> weights, std::vector<int64_t> times);
  ~StepPaths();

  // The pieces of the next step, in the order of time; false: there is none.
  bool Next(std::vector<PathPiece>& pieces);

 private:
  struct Ends;
  const ReplayGraph& graph_;
  const std::vector<int64_t> weights_, times_;
  const std::unique_ptr<Ends> ends_;
  size_t next_ = 0;
};

}  // namespace tracedb
