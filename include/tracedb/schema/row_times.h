// When each thousand rows of a trace's events are, as ingest has noted in _row_times: whoever wants
// those of a window of time need not read the others.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "tracedb/base/result.h"
#include "tracedb/base/sqlite_db.h"

namespace tracedb {

struct RowTimes {
  int64_t first_row = 0;
  int64_t last_row = 0;
  int64_t start = std::numeric_limits<int64_t>::max();  // least ts; metadata alone: after its end
  int64_t end = std::numeric_limits<int64_t>::min();    // greatest end
};

// Of the trace with these rows, in their order: each row is in one of them. Empty where the table
// has something else. That a time in it was changed cannot be noticed.
Result<std::vector<RowTimes>> ReadRowTimes(SqliteDb& db, int64_t first_row, int64_t last_row);

}  // namespace tracedb
