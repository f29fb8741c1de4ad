// Busy time by SQL, for a trace of very many tracks.
#pragma once

#include <cstdint>

#include "tracedb/base/result.h"
#include "tracedb/base/sqlite_db.h"

namespace tracedb {

// For a database that holds one trace: fills _busy_segment, _device_use and _stream_use.
Status DeriveBusy(SqliteDb& db, int64_t trace_id);

}  // namespace tracedb
