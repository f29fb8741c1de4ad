// Busy time by SQL, for a rank over all its traces: of several captures, or of very many tracks.
#pragma once

#include <cstdint>

#include "tracedb/base/result.h"
#include "tracedb/base/sqlite_db.h"

namespace tracedb {

// Replaces the rank's rows of busy_segment, device_use and stream_use.
Status DeriveBusy(SqliteDb& db, int64_t rank);

}  // namespace tracedb
