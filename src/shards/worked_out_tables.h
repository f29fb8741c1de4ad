// What a summary has that no table of the rank's own database has.
#pragma once

#include <cstdint>

#include "tracedb/base/result.h"
#include "tracedb/base/sqlite_db.h"

namespace tracedb {

// Makes temp.part_use, temp.step_last, temp.wait_name (the names of calls that wait for the GPU),
// temp.full_queue (launches that waited as their queue was full),
// and the tables of busy_outline.h, empty.
Status ClearWorkedOutTables(SqliteDb& db);
// Adds to them what is of a trace, whose rows are first_row to last_row.
Status WorkOutTables(SqliteDb& db, int64_t trace_id, int64_t first_row, int64_t last_row);

}  // namespace tracedb
