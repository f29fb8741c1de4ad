// Adds a source in a file of its own to a database that holds others: all of it or nothing.
#pragma once

#include <cstdint>
#include <set>

#include "ingest/load/table_copy.h"
#include "tracedb/base/result.h"

namespace tracedb {

// `db`: the database, where a failure leaves a transaction open. `outdated`: each source_id of what
// it takes the place of.
Status MergeSource(const MergeJob& job, SqliteDb& db, const std::set<int64_t>& outdated);

// A source that is in the database is of the run with this name from now on.
Status NameSourceRun(const std::filesystem::path& database, int64_t source_id,
                     const std::string& run, const LoadOptions& options);

}  // namespace tracedb
