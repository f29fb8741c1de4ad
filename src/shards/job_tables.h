// What gather has found out about all ranks together, as Parquet beside their summaries: engines
// that read these need nothing of the gathered database.
//
//   OUT/gathered/all/job_place.parquet   which summary's trace is which, and how its numbers move
//                    job_trace.parquet   and others: a table of the gathered database, as it is
//                    step.parquet        and others: no row; the columns that a rank's may have
#pragma once

#include <filesystem>
#include <vector>

#include "shards/summary_load.h"
#include "tracedb/base/result.h"
#include "tracedb/base/sqlite_db.h"

namespace tracedb {

Status WriteJobTables(SqliteDb& db, const std::vector<FoundShard>& shards,
                      const std::filesystem::path& out);

}  // namespace tracedb
