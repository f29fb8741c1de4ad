// What each edge of a job's graph would weigh if its rank were like its peers (MODEL.md, "Ideal").
#pragma once

#include <vector>

#include "replay/change_reader.h"
#include "replay/replay_graph.h"
#include "tracedb/base/result.h"
#include "tracedb/base/sqlite_db.h"

namespace tracedb {

class IdealWeights {
 public:
  explicit IdealWeights(const ReplayGraph& graph) : graph_(graph) {}

  // `weights` become those of the peers where the change names them. They are found at first use.
  Status Apply(SqliteDb& db, const Change& change, std::vector<int64_t>& weights);

 private:
  const ReplayGraph& graph_;
  std::vector<int64_t> ideal_;  // by edge; kNoEdge: without peers; empty: not found yet
};

}  // namespace tracedb
