// Which changes a replay of collectives alone can tell of.
#pragma once

#include <cstdint>
#include <unordered_set>

#include "replay/changes/change_reader.h"
#include "replay/graph/job_rows.h"
#include "tracedb/base/result.h"
#include "tracedb/base/sqlite_db.h"

namespace tracedb {

// kUsage says what can be asked of a gathered database, and where the rest can be.
Status CheckOfSummaries(SqliteDb& db, const Change& change);
// The same of slices that were named: only kernels of collectives are there.
Status CheckNamesOfSummaries(SqliteDb& db, const JobRows& rows,
                             const std::unordered_set<int64_t>& names);

}  // namespace tracedb
