// Opens a trace database for reading, or says in one line why that file is none.
#pragma once

#include <filesystem>
#include <vector>

#include "tracedb/base/result.h"
#include "tracedb/base/sqlite_db.h"

namespace tracedb {

inline constexpr int kBusyTimeoutMs = 10'000;

// Read-only. Waits up to `busy_timeout_ms` for another process that has the file locked. The caller
// may still register functions; RestrictToReading() is then the caller's to call.
Result<SqliteDb> OpenTraceDatabase(const std::filesystem::path& path,
                                   int busy_timeout_ms = kBusyTimeoutMs);

}  // namespace tracedb
