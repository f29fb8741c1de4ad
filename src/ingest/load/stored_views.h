// The views of a database that is new.
#pragma once

#include "tracedb/base/result.h"
#include "tracedb/base/sqlite_db.h"

namespace tracedb {

// As rows of the schema, which SQLite would make only after it has worked out each view: six times
// the work of all else for a small trace. Whoever opens the file next reads them anyway.
Status StoreViews(SqliteDb& db);

}  // namespace tracedb
