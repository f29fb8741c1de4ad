// Where the rows of a capture's traces lie, and which of them have times that cannot be.
#pragma once

#include <cstdint>
#include <unordered_set>
#include <vector>

#include "tracedb/base/result.h"
#include "tracedb/base/sqlite_db.h"

namespace tracedb {

struct CaptureTrace {
  int64_t trace_id = 0;
  int64_t rank = 0;
  int64_t first_row = 0;  // ids of its slices, both among them
  int64_t last_row = 0;
  int64_t first_text = 0;  // ids of its tracks and event names
  int64_t last_text = 0;
};

// In the order of their ids.
Result<std::vector<CaptureTrace>> TracesOfCapture(SqliteDb& db, int64_t capture_id);

// Ids of slices, of all traces.
Result<std::unordered_set<int64_t>> ImpossibleTimes(SqliteDb& db);

}  // namespace tracedb
