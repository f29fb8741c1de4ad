// By how much the GPU of a rank had more to do in a step than those of its peers.
#pragma once

#include <cstdint>
#include <set>
#include <vector>

#include "replay/changes/late_slices.h"
#include "replay/graph/job_rows.h"
#include "tracedb/base/result.h"
#include "tracedb/base/sqlite_db.h"

namespace tracedb {

// Adds the compute kernels, copies and fills of these ranks in these steps, and in the ends of
// others, that are longer than their like, and by how much. MODEL.md, "lateness of ranks".
Status FindLateWork(SqliteDb& db, const JobRows& rows, const std::set<int64_t>& ranks,
                    const std::set<int64_t>& steps, const StepEnds& ends,
                    std::vector<LateSlice>& found);

}  // namespace tracedb
