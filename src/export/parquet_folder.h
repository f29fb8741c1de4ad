// The answers of queries as a folder of Parquet files: NAME.parquet each, and contents.parquet and
// columns.parquet, which say what they are.
#pragma once

#include <vector>

#include "export/asked_query.h"
#include "tracedb/base/result.h"
#include "tracedb/base/sqlite_db.h"
#include "tracedb/export/export_command.h"

namespace tracedb {

// Files of these names are replaced, each whole, when all answers are there; others stay.
Result<ExportOutcome> ExportParquet(SqliteDb& db, const ExportOptions& options,
                                    const std::vector<AskedQuery>& asked);

}  // namespace tracedb
