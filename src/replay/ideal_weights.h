// What each edge of a job's graph would weigh if its rank were like its peers (MODEL.md, "Ideal").
#pragma once

#include <cstdint>
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
  struct Likened {
    int64_t ideal_ns;
    int64_t step;
    uint32_t edge;
    uint32_t trace_and_kind;  // eight times the number of its trace, plus that of its kind
  };
  Status Find(SqliteDb& db);

  const ReplayGraph& graph_;
  bool is_found_ = false;
  std::vector<Likened> likened_;  // edges with peers, in their order
};

}  // namespace tracedb
