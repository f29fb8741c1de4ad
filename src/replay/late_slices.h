// What made a rank late for its collectives, and by how much longer than on other ranks it took.
#pragma once

#include <cstdint>
#include <vector>

#include "replay/job_rows.h"
#include "tracedb/base/result.h"
#include "tracedb/base/sqlite_db.h"

namespace tracedb {

struct LateSlice {
  int64_t slice_id;
  int64_t late_ns;  // at most what it takes longer than on other ranks
};

// Of a rank of the capture whose rows these are, by slice_id. MODEL.md, "a rank's lateness".
Result<std::vector<LateSlice>> LateSlices(SqliteDb& db, const JobRows& rows, int64_t rank);

}  // namespace tracedb
