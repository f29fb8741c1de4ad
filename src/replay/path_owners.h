// Which slices of the host fill the stretches of a critical path that are the host's.
#pragma once

#include <vector>

#include "replay/graph/host_owners.h"
#include "tracedb/base/result.h"
#include "tracedb/base/sqlite_db.h"
#include "tracedb/replay/job_replay.h"

namespace tracedb {

// Stretches of at least kLongSliceNs are cut where the innermost slice of that length changes, and
// get its number as held_by; an annotation around it that is hardly longer says more, and is taken.
Result<std::vector<PathPiece>> WithOwners(SqliteDb& db, HostOwners& owners,
                                          const std::vector<PathPiece>& pieces);

}  // namespace tracedb
