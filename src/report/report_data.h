// All that a page shows, asked of the database.
#pragma once

#include <string>
#include <vector>

#include "report/shown_run.h"
#include "tracedb/report/report_page.h"

namespace tracedb {

struct ReportText {
  std::string json;
  std::vector<std::string>
      failed;           // "QUERY: why": parts that show their error in place of a result
  std::string verdict;  // in one sentence; may be empty
};

// {"database","version","ranks","verdict":{...},"lanes":{...},"sections":[...],
// "results":{"overlap":{...}},"checks":[...]}, as page_data.js reads it; without any '<'.
Result<ReportText> ReportData(SqliteDb& db, const QueryCatalog& catalog,
                              const ReportOptions& options, const ShownRun& run);

}  // namespace tracedb
