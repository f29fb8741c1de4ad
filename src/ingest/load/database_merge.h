// Adds the trace in a file of its own to a database that has others: all of it or nothing.
//
// Tables of many rows are added as whole pages (see tree_graft.h); small ones, and everything where
// that is not possible, through SQLite.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "ingest/load/table_copy.h"
#include "tracedb/base/result.h"
#include "tracedb/ingest/load/trace_load.h"
#include "tracedb/pages/staged_changes.h"

namespace tracedb {

// Connections to the database, where there are any; none of those where it ends otherwise.
struct MergeConnections {
  std::optional<SqliteDb>& db;
  StagedConnection& staged;
};

Status MergeTrace(const MergeJob& job, const MergeConnections& connections);

// A trace that is in the database is of the run with this name from now on.
Status NameRun(const std::filesystem::path& database, int64_t trace_id, const std::string& run,
               const LoadOptions& options);

// Decides on runs and captures anew, and what depends on them goes along; of `added` it is still in
// the attached database `fresh`.
Status DecideRunsAnew(SqliteDb& db, std::optional<int64_t> added = std::nullopt);

}  // namespace tracedb
