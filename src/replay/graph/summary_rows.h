// The rows of a capture of a gathered database, which has of each rank its parts of collectives,
// their launches, the host's long waits, steps and what was computed meanwhile, and nothing else
// (MODEL.md, "Collectives alone").
#pragma once

#include <cstddef>
#include <cstdint>

#include "replay/graph/job_rows.h"
#include "tracedb/base/result.h"
#include "tracedb/base/sqlite_db.h"

namespace tracedb {

// Whether the database was gathered from summaries that left events out.
Result<bool> HasSummariesAlone(SqliteDb& db);
// kQuery where it was gathered by, or from summaries of, a tracedb that did not tell enough.
Result<JobRows> ReadSummaryRows(SqliteDb& db, int64_t capture_id, size_t rows_max);

}  // namespace tracedb
