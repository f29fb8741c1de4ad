// The rows of a trace in a file of its own become rows of a database, through SQLite; and which
// runs the traces of a database are of.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <set>
#include <string>

#include "ingest/load/table_copy.h"
#include "tracedb/base/result.h"
#include "tracedb/base/sqlite_db.h"
#include "tracedb/ingest/load/trace_load.h"

namespace tracedb {

// Adds all rows of the attached database `fresh`, but for the tables in `done`, and decides which
// run its trace is of. Within a transaction.
Status MergeRows(SqliteDb& db, const std::set<std::string>& done, const DatabaseTables& tables,
                 const MergeJob& job);

// A trace that is in the database is of the run with this name from now on.
Status NameRun(const std::filesystem::path& database, int64_t trace_id, const std::string& run,
               const LoadOptions& options);

// Decides on runs and captures anew, and what depends on them goes along; of `added` it is still in
// the attached database `fresh`.
Status DecideRunsAnew(SqliteDb& db, std::optional<int64_t> added = std::nullopt);

}  // namespace tracedb
