// What SQL may call beside SQLite's own, in every connection that answers questions.
#pragma once

#include "tracedb/base/result.h"
#include "tracedb/base/sqlite_db.h"

namespace tracedb {

Status AddFunctions(SqliteDb& db);

}  // namespace tracedb
