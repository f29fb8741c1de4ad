// Which slices of the host fill the stretches of a critical path that are the host's.
#pragma once

#include <vector>

#include "tracedb/base/result.h"
#include "tracedb/base/sqlite_db.h"
#include "tracedb/replay/job_replay.h"

namespace tracedb {

// Stretches in which a slice that is long enough to be looked up (kLongSliceNs) held the thread are
// cut at its ends, and get its number as held_by.
Result<std::vector<PathPiece>> WithOwners(SqliteDb& db, std::vector<PathPiece> pieces);

}  // namespace tracedb
