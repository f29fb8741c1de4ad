// The busy time of a rank's GPUs in outline, for its summary: a few stretches in place of one for
// each change of what runs.
#pragma once

#include <cstdint>

#include "tracedb/base/result.h"
#include "tracedb/base/sqlite_db.h"

namespace tracedb {

// An example: computation from 0 to 3 and from 5 to 9, and the next collective begins at 20. The
// outline has computation from 0 to 7: how long something ran before that collective, not when.
//
// Between two moments that other ranks' collectives, or steps, are compared with, how long each
// mixture of kinds runs is exact; within, these follow one another without gaps, the lowest first.
// Such moments are the starts and ends of parts of collectives, the bounds of each step's
// activities (temp.step_last, made before), and those of communication alone: a rank waits in
// it until others come, at a moment that only all ranks tell, so that it is where it was.
//
// temp.busy_outline has them (number, ts_ns, dur_ns, kinds), of the trace and device that
// temp.outline_device has by number.
Status ClearBusyOutlines(SqliteDb& db);  // makes both tables, empty
// Of the trace whose rows are first_row to last_row.
Status MakeBusyOutline(SqliteDb& db, int64_t trace_id, int64_t first_row, int64_t last_row);

}  // namespace tracedb
