// What made a rank late for its collectives, and by how much longer than on other ranks it took.
#pragma once

#include <cstdint>
#include <set>
#include <vector>

#include "replay/job_rows.h"
#include "tracedb/base/result.h"
#include "tracedb/base/sqlite_db.h"

namespace tracedb {

struct LateSlice {
  int64_t slice_id;
  int64_t late_ns;  // at most what it takes longer than on other ranks
};

struct Lateness {
  std::vector<LateSlice> slices;
  std::set<int64_t> steps_in_pieces;  // in which its host was late without a slice to name
};

// Of a rank of the capture whose rows these are. MODEL.md, "a rank's lateness".
Result<Lateness> LatenessOf(SqliteDb& db, const JobRows& rows, int64_t rank);

}  // namespace tracedb
