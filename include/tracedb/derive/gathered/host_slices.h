// What ran on the host: operators, annotations, Python functions and modules, and runtime calls,
// gathered while a trace is read, to be gone through in the order of their start.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <memory>
#include <optional>

#include "tracedb/base/result.h"
#include "tracedb/memory/rows_ahead.h"
#include "tracedb/memory/sorted_runs.h"
#include "tracedb/schema/event_tables.h"
#include "tracedb/schema/graph_calls.h"

namespace tracedb {

struct HostSlice {
  int64_t ts = 0;
  int64_t dur = 0;  // 0 where the trace has none, or a negative one
  int64_t id = 0;
  int64_t track = 0;
  int64_t event_name = 0;
  int64_t args_text = 0;       // operators; 0: no args
  int64_t correlation = 0;     // calls
  int64_t external_id = 0;     // operators, calls
  int64_t sequence = 0;        // operators
  int64_t forward_thread = 0;  // operators; not 0: it belongs to a backward pass
  HostKind kind = HostKind::kOperator;
  GraphCall graph_call = GraphCall::kNone;  // calls
  bool waits = false;                       // calls: it returns when the GPU is done
  bool has_correlation = false;
  bool has_external_id = false;
  bool has_sequence = false;
};

inline int64_t EndOf(const HostSlice& slice) {
  int64_t end;
  return __builtin_add_overflow(slice.ts, slice.dur, &end) ? std::numeric_limits<int64_t>::max()
                                                           : end;
}

// What an event name says of its slices.
struct HostCall {
  std::optional<HostKind> kind;  // none: not gathered
  bool waits = false;            // it returns when the GPU is done
  GraphCall graph_call = GraphCall::kNone;
};

class HostSlices {
  // Operators and annotations.
  struct OperatorRow {
    int64_t ts, dur, id, track;
    int64_t marked_name;  // twice the event name, and 1 more for an annotation
    int64_t args_text, external_id, sequence;
    int64_t thread_and_flags;  // four times the forward thread, and which values are there
  };
  // Functions and modules of Python.
  struct FunctionRow {
    int64_t ts, dur, id, track;
    int64_t marked_name;  // twice the event name, and 1 more for a module
  };
  struct CallRow {
    int64_t ts, dur, id, track;
    int64_t name_and_flags;  // 64 times the event name, 8 times graph_call, which values are there,
                             // and kWaits
    int64_t correlation, external_id;
  };

 public:
  // `folder` is for what does not fit in `bytes_max`.
  HostSlices(std::filesystem::path folder, size_t bytes_max)
      : space_(std::make_shared<PackedSpace>(std::move(folder), bytes_max)),
        operators_(space_),
        functions_(space_),
        calls_(space_) {}

  Status Add(const HostSlice& slice);
  // No slice comes any more.
  Status Finish();
  size_t count() const { return count_; }

  // The slices by start; of those that start at once the longest first, then by id. After Finish().
  class Reader {
   public:
    // `in_stages`: operators and functions, which are most, are each read on a thread of its own.
    explicit Reader(const HostSlices& slices, bool in_stages = false)
        : operators_(slices.operators_, in_stages),
          functions_(slices.functions_, in_stages && slices.functions_.runs() > 0),
          calls_(slices.calls_) {}

    // False after the last one, and when reading failed: status() tells.
    bool Next(HostSlice& slice);
    Status status() const;

   private:
    RowsAhead<OperatorRow> operators_;
    RowsAhead<FunctionRow> functions_;
    SortedRuns<CallRow>::Reader calls_;
  };

 private:
  std::shared_ptr<PackedSpace> space_;
  SortedRuns<OperatorRow> operators_;
  SortedRuns<FunctionRow> functions_;
  SortedRuns<CallRow> calls_;
  size_t count_ = 0;
};

}  // namespace tracedb
