// Hosts of late ranks that did the same as those of others and took longer for it, whatever held
// them: a slice, several, many short pieces, or another thread.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <vector>

#include "replay/graph/replay_graph.h"
#include "replay/peers/activity_names.h"
#include "tracedb/base/result.h"
#include "tracedb/base/sqlite_db.h"

namespace tracedb {

class StopWatch;

// The stretches of work of all hosts, each with its likes. A job is replayed without the lateness
// of one rank after the other: they are found once.
class HostWork {
 public:
  explicit HostWork(const ReplayGraph& graph) : graph_(graph) {}

  // In these steps the work of these ranks' hosts takes no longer than that of the others:
  // MODEL.md, "lateness of ranks".
  Status Even(SqliteDb& db, const std::set<int64_t>& ranks, const std::set<int64_t>& steps,
              StopWatch& watch, EdgeTimes& weights);

 private:
  struct Stretch {
    int64_t work_ns;
    uint32_t edge;
    uint32_t trace;  // in JobRows::traces
  };
  static_assert(sizeof(Stretch) == 16);  // there may be one for each edge
  // In one step, between the same launches: up to the first of the next group.
  struct Alike {
    int64_t step;
    uint32_t first;  // in stretches
  };
  struct Likes {
    std::vector<Stretch> stretches;
    std::vector<Alike> groups;
  };
  friend class HostWorkOfRanks;

  Likes Find(const ActivityNames& names) const;

  const ReplayGraph& graph_;
  std::optional<Likes> likes_;
};

}  // namespace tracedb
