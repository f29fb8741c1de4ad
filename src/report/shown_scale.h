// How large the run is that a page is of, and what of it the page has exactly.
#pragma once

#include "report/report_sections.h"
#include "report/shown_run.h"
#include "tracedb/base/result.h"
#include "tracedb/base/sqlite_db.h"
#include "tracedb/report/report_page.h"

namespace tracedb {

// Where not all slices fit, the page has those of one step: the longest, or the one that was asked
// for; of the rank at which most waits begin (or that was asked for), and of as many others as fit.
Result<ReportScale> ScaleOf(SqliteDb& db, const ShownRun& run, const ReportOptions& options);

}  // namespace tracedb
