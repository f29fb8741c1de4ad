// A connection to a database in order to change it.
#pragma once

#include <filesystem>

#include "tracedb/base/result.h"
#include "tracedb/base/sqlite_db.h"
#include "tracedb/ingest/load/trace_load.h"
#include "tracedb/pages/staged_changes.h"

namespace tracedb {

// How long to wait for another program that holds the database.
inline constexpr int kBusyWaitMs = 60'000;

// `database` is a real name. Waits for others, and ends when options.stop says so, which must
// outlive the connection.
Result<SqliteDb> OpenToChange(const std::filesystem::path& database, const LoadOptions& options);
// The same with one to which pages are added as well.
Status OpenToChange(const std::filesystem::path& database, const LoadOptions& options,
                    StagedConnection& connection);

}  // namespace tracedb
