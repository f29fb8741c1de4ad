// A job replayed once a rank with all others ideal, as `slowdown` asks for: some ranks at a time,
// as most of a replay is to look at edges that weigh the same in each.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "replay/changes/change_reader.h"
#include "replay/changes/ideal_weights.h"
#include "replay/graph/edge_times.h"
#include "replay/graph/replay_graph.h"
#include "replay/replay_steps.h"
#include "tracedb/base/result.h"
#include "tracedb/base/sqlite_db.h"
#include "tracedb/replay/job_replay.h"

namespace tracedb {

class IdealRanks {
 public:
  // What is passed must outlive it.
  IdealRanks(const ReplayGraph& graph, const StepNodes& steps, IdealWeights& ideal)
      : graph_(graph), steps_(steps), ideal_(ideal) {}

  // The steps of a replay with these changes, where they make all ranks but one ideal, ranks are
  // asked for in their order, and this is not the first; else nothing: it is replayed by itself.
  Result<std::optional<std::vector<ReplayedStep>>> Steps(SqliteDb& db,
                                                         const std::vector<Change>& changes);

 private:
  Status ReplayFrom(SqliteDb& db, int64_t rank);

  const ReplayGraph& graph_;
  const StepNodes& steps_;
  IdealWeights& ideal_;
  std::optional<int64_t> asked_;                          // the rank that was asked for last
  std::optional<EdgeTimes> all_ideal_;                    // when it is first needed
  std::map<int64_t, std::vector<ReplayedStep>> by_rank_;  // of the last replay
  std::vector<int64_t> times_;                            // of its nodes
};

}  // namespace tracedb
