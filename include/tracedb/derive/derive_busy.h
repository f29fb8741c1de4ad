// Busy time by SQL, for a rank over all its traces: of several captures, or of very many tracks.
#pragma once

#include <array>
#include <cstdint>

#include "tracedb/base/result.h"
#include "tracedb/base/sqlite_db.h"

namespace tracedb {

// What it fills.
inline constexpr std::array<const char*, 3> kBusyTables = {"_busy_segment", "_device_use",
                                                           "_stream_use"};

// Replaces the rank's rows of these tables.
Status DeriveBusy(SqliteDb& db, int64_t rank);

}  // namespace tracedb
