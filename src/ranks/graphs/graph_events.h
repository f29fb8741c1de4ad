// What a database has of graphs: replays with their kernels, captures with their launches, and the
// kernels that were launched one by one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "ranks/graphs/graph_order.h"
#include "ranks/graphs/path_meanings.h"
#include "tracedb/base/result.h"
#include "tracedb/base/sqlite_db.h"

namespace tracedb {

// Of a trace in which graphs were launched.
struct GraphTrace {
  int64_t trace_id = 0;
  int64_t run_id = 0;
  int64_t rank = 0;
  int64_t first_row = 0;
  int64_t last_row = 0;
  std::vector<int64_t> gpu_tracks;
};

struct GraphReplay {
  int64_t id = 0;  // the call that launched it
  int64_t correlation = 0;
  int64_t path = 0;  // of the call; 0: none
  int64_t forward = 0;
  int64_t ts = 0;
  int64_t batch = 0;  // that an annotation around the call names; 0: none
  int64_t turn = 0;   // the how many-th of its batch size, from 0
};

struct ReplayedNode {
  int64_t id = 0;
  int64_t track = 0;
  int64_t ts = 0;
  int64_t dur = 0;
  int64_t event_name = 0;
  std::optional<int64_t> step;
  int64_t path = 0;  // as _launch has it
  int64_t forward = 0;
  NodeKey key;
  bool may_have_id = false;  // its args have something like the profiler's number of a node
};

struct GraphCapture {
  int64_t id = 0;  // the call that began it
  int64_t trace_id = 0;
  int64_t path = 0;
  int64_t launches = 0;
  int64_t ts = 0;
  int64_t batch = 0;       // that its file or an annotation names; 0: none
  bool has_graph = false;  // a graph is launched within it
  bool has_body = false;   // a part of it runs under a condition: once, often or never
  // What one takes, with its file while it is read and its place by batch size.
  static constexpr size_t kBytesEach = 96;
};

struct NodePath {
  int64_t path = 0;
  int64_t forward = 0;
};

// Launches in the order in which they were made, each with its path.
struct LaunchList {
  std::vector<LaunchedNode> nodes;
  std::vector<NodePath> paths;
  // What one takes.
  static constexpr size_t kBytesEach = sizeof(LaunchedNode) + sizeof(NodePath);
};

class GraphEvents {
 public:
  GraphEvents(SqliteDb& db, PathMeanings& meanings, size_t bytes_max)
      : db_(&db), meanings_(&meanings), names_max_(bytes_max / kKeyBytes) {}

  Result<std::vector<GraphTrace>> Traces();
  // Those of its rank that it may replay; nothing where they are more than `count_max`.
  Result<std::optional<std::vector<GraphCapture>>> CapturesFor(const GraphTrace& trace,
                                                               size_t count_max);
  // In the order of time; of more than `nodes_max` none.
  Result<std::vector<ReplayedNode>> NodesOf(const GraphTrace& trace, const GraphReplay& replay,
                                            size_t nodes_max);
  // The numbers that the profiler gives to nodes of a graph, in the order in which these were made;
  // empty where it gives none.
  Result<std::vector<int64_t>> NodeIds(const std::vector<ReplayedNode>& nodes);
  // Of a capture those launches that ran nothing.
  Result<LaunchList> LaunchesOf(const GraphCapture& capture);
  // What was launched one by one in a trace, at most `count_max`; by thread.
  Result<std::vector<LaunchList>> EagerLaunches(const GraphTrace& trace, size_t count_max);

 private:
  static constexpr size_t kKeyBytes = 160;  // a key with its place in a map
  struct ActivityKey {
    NodeKey key;
    bool may_have_id = false;
  };
  Result<ActivityKey> KeyOfActivity(int64_t event_name, int64_t args_text, bool is_memory);
  // Of a call while a graph was captured.
  Result<NodeKey> KeyOfLaunch(GraphNodeKind kind, int64_t args_text);
  // Compiles a statement when it is first needed.
  Result<SqliteStatement*> Prepared(std::optional<SqliteStatement>& to, const char* sql);
  Result<bool> RanSomething(int64_t trace_id, int64_t correlation);
  Result<std::vector<int64_t>> GpuTracks(int64_t trace_id);
  // GPU tracks of a trace on which something may have run with this correlation: all of `tracks`
  // where these are few, else those that have it. Good until it is asked for again.
  Result<const std::vector<int64_t>*> TracksWith(int64_t trace_id,
                                                 const std::vector<int64_t>& tracks,
                                                 int64_t correlation);
  Status FindTracks(int64_t trace_id);

  SqliteDb* db_;
  PathMeanings* meanings_;
  size_t names_max_;
  std::optional<SqliteStatement> nodes_, key_, any_, node_id_, tracks_with_, launch_args_,
      launch_name_;
  std::vector<int64_t> found_tracks_;
  std::set<int64_t> in_graph_track_;  // traces that the temporary table has
  int64_t capture_trace_ = 0;         // whose tracks capture_tracks_ are
  std::vector<int64_t> capture_tracks_;
  std::map<std::pair<int64_t, int64_t>, ActivityKey> keys_;  // by event name and args text
  std::map<std::pair<int64_t, int64_t>, NodeKey> launches_;  // by kind and args text
};

}  // namespace tracedb
