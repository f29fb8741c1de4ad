// When the profiler itself held up threads of the host (MODEL.md, "Holds of the recorder").
#pragma once

#include <cstdint>
#include <unordered_set>
#include <vector>

#include "replay/graph/capture_traces.h"
#include "tracedb/base/interval.h"
#include "tracedb/base/result.h"
#include "tracedb/base/sqlite_db.h"

namespace tracedb {

struct HostThread {
  int64_t track_id;
  int64_t base_ns;
  uint32_t process;
};

struct RecorderHold {
  size_t thread;     // of those given
  int64_t slice_id;  // what the profiler says it did
  Interval range;    // on the trace's own clock
};

// In the trace; by end, then slice_id. Of more than `holds_max` only one more.
Result<std::vector<RecorderHold>> RecorderHolds(SqliteDb& db, const CaptureTrace& trace,
                                                const std::vector<HostThread>& threads,
                                                const std::unordered_set<int64_t>& impossible,
                                                size_t holds_max);

}  // namespace tracedb
