// Names of processes and threads.
#pragma once

#include <cstdint>

#include "tracedb/base/result.h"
#include "tracedb/base/sqlite_db.h"

namespace tracedb {

// Fills process and thread from the trace's metadata events and tracks.
Status DeriveNames(SqliteDb& db, int64_t trace_id);

}  // namespace tracedb
