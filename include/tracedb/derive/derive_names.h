// Names of processes and threads.
#pragma once

#include <cstdint>

#include "tracedb/base/result.h"
#include "tracedb/base/sqlite_db.h"
#include "tracedb/derive/trace_namings.h"

namespace tracedb {

// Fills process and thread from the trace's tracks and metadata events. `namings`: what was noted
// of the latter.
Status DeriveNames(SqliteDb& db, int64_t trace_id, const TraceNamings& namings);

}  // namespace tracedb
