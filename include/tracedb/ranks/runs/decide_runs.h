// Which run and which capture each trace of a database belongs to.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "tracedb/base/result.h"
#include "tracedb/base/sqlite_db.h"

namespace tracedb {

// A trace that has come to this run and capture, and was in another or in none.
struct TraceMove {
  int64_t trace_id = 0;
  int64_t run_id = 0;
  int64_t capture_id = 0;
};

// Decides it anew for all traces in main._trace: the outcome depends on them alone, not on the
// order in which they came. Fills _run and _capture and the columns of _trace that say it. What has
// other runs or captures in its rows (MoveCollectives()) is left to the caller.
Result<std::vector<TraceMove>> DecideRuns(SqliteDb& db);

// Whether a trace shows how CUDA or HIP graphs were captured, and is no rank of the job, as its
// path says: in a folder capture_traces, or named graph_capture_rank_0... or bs_32_rank0...
bool IsGraphCaptureFile(std::string_view path);

}  // namespace tracedb
