// What ran on the host while a graph was captured, and where graphs were launched: what it takes to
// find the operators of a graph's kernels once all traces are there.
//
// Between cudaStreamBeginCapture and cudaStreamEndCapture a call that launches a kernel runs none:
// it becomes a node of the graph. It counts for the capture of its own thread; one of a thread
// without a capture (autograd's) for the only one that is going on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <unordered_map>
#include <utility>

#include "tracedb/base/result.h"
#include "tracedb/base/sqlite_db.h"
#include "tracedb/memory/packed_rows.h"
#include "tracedb/schema/graph_calls.h"

namespace tracedb {

// A call of the runtime or driver, and the paths on which it was made; a path of 0 is none.
struct GraphRelatedCall {
  GraphCall kind = GraphCall::kNone;
  int64_t id = 0;
  int64_t track = 0;
  int64_t ts = 0;
  int64_t dur = 0;
  int64_t correlation = 0;
  uint32_t path = 0;
  uint32_t forward = 0;
};

class GraphCaptures {
 public:
  // `folder` is for what does not fit in `bytes_max`.
  GraphCaptures(std::filesystem::path folder, size_t bytes_max)
      : space_(std::make_shared<PackedSpace>(std::move(folder), bytes_max / 2)),
        captures_(space_),
        launches_(space_),
        paths_(space_),
        replays_(space_),
        counted_max_(bytes_max / 2 / kCountedBytes) {}

  // In the order of time.
  Status Take(const GraphRelatedCall& call);
  bool is_open() const { return !open_.empty(); }
  // A call on `track` goes on `path`: counted while a capture of this thread is going on.
  void Enter(int64_t track, uint32_t path);
  // No call comes any more.
  Status Finish();

  // What an operator is called and its args, or nothing for a path that ends in something else.
  using OperatorOf = std::function<std::optional<std::pair<int64_t, int64_t>>(int64_t path)>;
  // Fills _graph_capture, _captured_launch, _captured_call and _graph_launch.
  Status Store(SqliteDb& db, int64_t trace_id, int64_t first_path,
               const OperatorOf& operator_of) const;

 private:
  static constexpr size_t kOpenMax = 64;       // captures that go on at a time
  static constexpr size_t kCountedBytes = 64;  // a path and its calls, in a hash table
  struct Capture {
    int64_t id, path;  // the call that began it
  };
  struct Launch {
    int64_t id, capture_id, kind, path, forward;
  };
  struct CalledPath {
    int64_t capture_id, path, calls;
  };
  struct Replay {
    int64_t id, correlation, path, forward;
  };
  struct Open {
    int64_t id = 0;
    int64_t busy_until = 0;  // the end of the last launch: one within it is the same launch
    bool all_counted = true;
    int64_t bodies = 0;                           // captures of parts that go on within it
    std::unordered_map<uint32_t, int64_t> calls;  // by path
  };

  // Of a capture the calls of operators by name and args, each on the first of their paths.
  Status ForEachOperator(const OperatorOf& operator_of,
                         const std::function<Status(const CalledPath&)>& take) const;
  Status Begin(const GraphRelatedCall& call);
  Status Close(Open& open);
  Open* OpenOf(int64_t track);

  std::shared_ptr<PackedSpace> space_;
  PackedRows<Capture> captures_;
  PackedRows<Launch> launches_;
  PackedRows<CalledPath> paths_;
  PackedRows<Replay> replays_;
  size_t counted_max_;
  size_t counted_ = 0;
  std::unordered_map<int64_t, Open> open_;  // by track
};

}  // namespace tracedb
