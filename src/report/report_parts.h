// The parts of a page, asked of the database by several workers, each with a connection of its own:
// whoever is free takes the next part. What the page shows does not depend on who took what.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "report/lane_shares.h"
#include "report/query_rows.h"
#include "report/report_sections.h"
#include "report/report_verdict.h"
#include "tracedb/base/result.h"
#include "tracedb/base/sqlite_db.h"
#include "tracedb/doctor/doctor_checks.h"
#include "tracedb/query/doc/query_catalog.h"
#include "tracedb/report/report_page.h"

namespace tracedb {

struct ReportParts {
  std::map<std::string_view, std::string> json;                         // by query
  std::map<std::string_view, std::vector<std::vector<RowValue>>> kept;  // first rows, of all
  DoctorReport checks;
  Result<PageVerdict> verdict = PageVerdict{};  // of a gathered database alone
  Result<LaneShares> lanes = LaneShares{};      // an Error of its own leaves the other parts
  std::vector<std::string> failed;              // "QUERY: why"
};

// `others` may be empty. Parts that replay the job all go to `db`, which so has the only graph of
// it. A part that fails leaves the others; an interrupt ends them all.
Result<ReportParts> RunParts(SqliteDb& db, std::span<SqliteDb> others, const QueryCatalog& catalog,
                             const ReportOptions& options, const ReportScale& scale);

}  // namespace tracedb
