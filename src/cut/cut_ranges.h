// Which rows of a trace a window may have: ingest has noted when each thousand of them are.
#pragma once

#include <cstdint>
#include <vector>

#include "cut/cut_source.h"
#include "tracedb/base/sqlite_db.h"

namespace tracedb {

struct RowRange {
  int64_t first = 0;
  int64_t last = 0;
};

// In rising order, apart from each other. All rows where there is no window, and where _row_times
// cannot be read or does not fit the trace: it saves reading, and nothing depends on it.
std::vector<RowRange> RangesInWindow(SqliteDb& db, const CutSource& trace);

}  // namespace tracedb
