// The parts of a rank in collectives.
#pragma once

#include <cstdint>

#include "tracedb/base/result.h"
#include "tracedb/base/sqlite_db.h"

namespace tracedb {

// For a database that holds one trace of `rank`, after DeriveGroups(): fills _collective_part. The
// trace is a capture of its own there.
Status DeriveCollectives(SqliteDb& db, int64_t rank);

}  // namespace tracedb
