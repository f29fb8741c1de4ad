// Events with a time that cannot be.
#pragma once

#include "tracedb/base/result.h"
#include "tracedb/base/sqlite_db.h"
#include "tracedb/derive/time_rule.h"

namespace tracedb {

// Fills impossible_time, and takes steps with such a time out of step. For a file of one trace.
Status DeriveImpossibleTimes(SqliteDb& db, const TimeRule& rule);

}  // namespace tracedb
