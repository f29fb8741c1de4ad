// From the cause of each wait to its root: whom the rank that came last had been waiting for
// itself, and so on.
#pragma once

#include "tracedb/base/result.h"
#include "tracedb/base/sqlite_db.h"

namespace tracedb {

// Of all rows of collective_cause: gives those with a carried_id the cause of that row, and all of
// them the end of their chain.
Status FollowChains(SqliteDb& db);

}  // namespace tracedb
