// The answers of queries as one workbook, a sheet each.
#pragma once

#include <vector>

#include "export/asked_query.h"
#include "tracedb/base/result.h"
#include "tracedb/base/sqlite_db.h"
#include "tracedb/export/export_command.h"

namespace tracedb {

Result<ExportOutcome> ExportWorkbook(SqliteDb& db, const ExportOptions& options,
                                     const std::vector<AskedQuery>& asked);

}  // namespace tracedb
