// Whether a stage of a pipeline that others wait for is slow, or the schedule has it so.
#pragma once

#include "tracedb/base/result.h"
#include "tracedb/base/sqlite_db.h"

namespace tracedb {

// Of all rows of collective_cause whose cause is the device's work, and in which ranks with
// different work meet (a message between stages, a collective of several stages): "schedule" unless
// the kernel took so much longer in the step than on the other ranks that this is half of the wait,
// else "device". What no other rank runs cannot be compared, and stays the device's.
Status JudgeSchedules(SqliteDb& db);

}  // namespace tracedb
