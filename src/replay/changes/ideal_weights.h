// What each edge of a job's graph would weigh if its rank were like its peers (MODEL.md, "Ideal").
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "replay/changes/change_reader.h"
#include "replay/graph/replay_graph.h"
#include "replay/graph/replay_lanes.h"
#include "tracedb/base/result.h"
#include "tracedb/base/sqlite_db.h"

namespace tracedb {

class IdealWeights {
 public:
  explicit IdealWeights(const ReplayGraph& graph) : graph_(graph) {}

  // `weights` become those of the peers where the change names them. They are found at first use.
  Status Apply(SqliteDb& db, const Change& change, EdgeTimes& weights);

  // What edges that have peers weigh as recorded, of the ranks that have a lane, where it is not
  // what their peers do. After Apply(); by edge.
  std::vector<LaneWeight> Recorded(const std::map<int64_t, uint32_t>& lanes) const;

 private:
  struct Likened {
    int64_t ideal_ns;
    int64_t step;
    uint32_t edge;
    uint32_t trace : 29;  // in JobRows::traces
    uint32_t kind : 3;    // an GpuKind, or the host
  };
  static_assert(sizeof(Likened) == 24);  // there may be one for each edge
  Result<std::vector<Likened>> Find(SqliteDb& db) const;

  const ReplayGraph& graph_;
  std::optional<std::vector<Likened>> likened_;  // edges with peers, by edge; none: not found yet
};

}  // namespace tracedb
