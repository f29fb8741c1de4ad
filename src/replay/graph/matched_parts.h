// Which activities of a capture are the parts of one collective.
#pragma once

#include <cstdint>

#include "replay/graph/job_rows.h"
#include "tracedb/base/result.h"
#include "tracedb/base/sqlite_db.h"

namespace tracedb {

// Fills collectives and parts, and what activities say of them.
Status ReadMatchedParts(SqliteDb& db, int64_t capture_id, JobRows& rows);

}  // namespace tracedb
