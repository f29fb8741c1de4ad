// What operators, modules and annotations of captures have on the GPU by replays: changes to
// _host_use and _kernel_use, kept in _graph_change so that they can be taken back.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>

#include "ranks/graphs/graph_events.h"
#include "ranks/graphs/path_meanings.h"
#include "tracedb/base/result.h"
#include "tracedb/base/sqlite_db.h"

namespace tracedb {

class GraphChanges {
 public:
  // `bytes_max` bounds the sums that are kept before they go to the database.
  GraphChanges(SqliteDb& db, PathMeanings& meanings, int64_t trace_id, size_t bytes_max)
      : db_(&db), meanings_(&meanings), trace_id_(trace_id), sums_max_(bytes_max / kBytesEach) {}

  // An activity that the call `replay` launched is of `to`. `capture_path`: on which the capture
  // was begun; none: it was found one by one.
  Status Add(const GraphReplay& replay, const ReplayedNode& node, const NodePath& to,
             std::optional<int64_t> capture_path);
  // A replay of a capture, in the step of its first activity.
  Status AddCalls(int64_t capture_id, const std::optional<int64_t>& step);
  // Of this trace: captures recorded calls that launched nothing. Then all goes to the tables.
  Status Finish();

 private:
  static constexpr size_t kBytesEach = 160;
  using Step = std::optional<int64_t>;
  struct Use {
    Step step;
    int64_t from, from_forward, to, to_forward, kernel, capture_path;
    bool is_eager;
    auto operator<=>(const Use&) const = default;
  };
  struct Key {
    Step step;
    int64_t kind, name, detail, kernel;  // kind -1: of _kernel_use
    bool is_eager;
    auto operator<=>(const Key&) const = default;
  };
  struct Sums {
    int64_t activities = 0, gpu_ns = 0, self_gpu_ns = 0, backward_gpu_ns = 0,
            self_backward_gpu_ns = 0, calls = 0;
  };

  Status Spread();
  Status SpreadOne(const Use& use, int64_t activities, int64_t gpu_ns);
  Status CountCalls(int64_t capture_id, const Step& step, int64_t times);
  Status CountCaptures();
  Sums& Of(const Step& step, const PathEntry& piece, bool is_eager);
  Status Store();

  SqliteDb* db_;
  PathMeanings* meanings_;
  int64_t trace_id_;
  size_t sums_max_;
  struct Count {
    int64_t activities = 0, gpu_ns = 0;
  };
  std::map<Use, Count> uses_;
  std::map<std::pair<int64_t, Step>, int64_t> replays_;  // by capture
  std::map<Key, Sums> sums_;
};

// Adds what _graph_change has of a trace to the tables, or with `sign` -1 takes it away.
Status ApplyGraphChanges(SqliteDb& db, int64_t trace_id, int sign);

}  // namespace tracedb
