// When and where GPU samples were taken, as far as the traces tell: the machine, the time zone of
// the local times without one, and whose run it was. Fills _gpu_sample_zone and _gpu_sample_run.
#pragma once

#include "tracedb/base/result.h"
#include "tracedb/base/sqlite_db.h"

namespace tracedb {

// Looks at all traces and sources together, so it comes after the last of them has landed. In one
// transaction; a database in which nothing changes is not written to.
Status PlaceSamples(SqliteDb& db);

}  // namespace tracedb
