// The SQL function database_option(): what a command needs to be about this database.
#pragma once

#include "tracedb/base/result.h"
#include "tracedb/base/sqlite_db.h"

namespace tracedb {

// " --db runs/a.db", as a shell takes it; empty where a command takes this database without being
// told, or where it is no file.
Status RegisterDatabaseOption(SqliteDb& db);

}  // namespace tracedb
