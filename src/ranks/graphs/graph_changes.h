// What operators, modules and annotations of captures have on the GPU by replays: changes to
// _host_use and _kernel_use, kept in _graph_change so that they can be taken back.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "ranks/graphs/graph_events.h"
#include "ranks/graphs/graph_sums.h"
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
  using Key = GraphSumKey;
  using Sums = GraphSums;
  struct Count {
    int64_t activities = 0, gpu_ns = 0;
  };
  // Where the ends of a use's paths are.
  struct Ends {
    PathPlace from = 0, from_forward = 0, to = 0, to_forward = 0, begun = 0;
  };
  // The sums of an entry in the step that is looked at.
  struct Slot {
    uint64_t epoch = 0;
    Sums* sums = nullptr;
  };

  Status Spread();
  Status SpreadOne(const Use& use, const Count& count);
  void Move(const Use& use, const Ends& ends, const Count& count);
  void SpreadForward(const Use& use, const Ends& ends, const Count& count);
  void SpreadBackward(const Use& use, const Ends& ends, const Count& count);
  void FindInner(PathPlace to, PathPlace begun, bool is_eager);
  Status CountCalls(int64_t capture_id, const Step& step, int64_t times);
  Status CountCaptures();
  Sums& Of(const Step& step, const PathEntry& piece, bool is_eager);
  Sums& InnerOf(const Use& use, PathPlace place);
  void NewEpoch(const Use& use);
  // Marks a name; false when it was marked already since NewMarks().
  bool MarkName(PathPlace place);
  void NewMarks();
  Status Insert();  // into _graph_change
  Status Store();

  SqliteDb* db_;
  PathMeanings* meanings_;
  int64_t trace_id_;
  size_t sums_max_;
  std::map<Use, Count> uses_;
  std::map<std::pair<int64_t, Step>, int64_t> replays_;  // by capture
  GraphSumsByKey sums_;
  bool any_stored_ = false;  // changes are in the database that sums_ has no longer
  bool any_eager_ = false;   // of what was stored

  // While uses are spread.
  std::vector<PathPlace> inner_;      // the pieces of a path that are the graph's, from the end up
  std::vector<Slot> slots_;           // by place
  std::vector<uint64_t> name_marks_;  // by name
  std::vector<uint64_t> path_marks_;  // by place
  uint64_t mark_ = 0;
  uint64_t epoch_ = 0;
  uint64_t generation_ = 0;  // of the places in slots_
  Step epoch_step_;
  bool epoch_is_eager_ = false;
};

}  // namespace tracedb
