// Which stage of its pipeline each rank of a job is.
#pragma once

#include <cstdint>
#include <map>

#include "replay/graph/job_rows.h"
#include "tracedb/base/result.h"
#include "tracedb/base/sqlite_db.h"

namespace tracedb {

// By rank: its place in the largest of its groups that are a pipeline's, of several the highest. A
// rank without such a group is not in it.
Result<std::map<int64_t, int64_t>> PipelinePlaces(SqliteDb& db, const JobRows& job);

// Whether any message is sent from one rank to another.
Result<bool> HasMessages(SqliteDb& db, const JobRows& job);

}  // namespace tracedb
