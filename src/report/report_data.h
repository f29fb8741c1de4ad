// All that a page shows, asked of the database.
#pragma once

#include <string>

#include "report/shown_run.h"
#include "tracedb/report/report_page.h"

namespace tracedb {

// {"database","version","ranks","sections":[...],"results":{"overlap":{...}},"checks":[...]}, as
// page_data.js reads it; without any '<'.
Result<std::string> ReportData(SqliteDb& db, const QueryCatalog& catalog,
                               const ReportOptions& options, const ShownRun& run);

}  // namespace tracedb
