// Adds traces in files of their own to a database that has others: a trace as a whole or not at
// all.
//
// Tables of many rows are added as whole pages (page_merge.h); small ones, and everything where
// that is not possible, through SQLite.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "ingest/load/table_copy.h"
#include "tracedb/base/result.h"
#include "tracedb/ingest/load/trace_load.h"
#include "tracedb/pages/staged_changes.h"

namespace tracedb {

// `connection` is to the database, or is made; it is dropped where it has seen what did not become
// of it.
Status MergeTrace(const MergeJob& job, StagedConnection& connection);

// Whether it is large enough to be added as pages, and not to be where there are free ones.
Result<bool> GoesAsPages(const MergeJob& job);
// Several at once, in this order, each of which goes as pages; false: none of them was added, and
// one at a time might do.
Result<bool> MergeTraces(const std::vector<MergeJob>& jobs, StagedConnection& connection);

}  // namespace tracedb
