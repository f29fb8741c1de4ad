// Which run of a database a page is of: nothing on it is of two.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tracedb/base/result.h"
#include "tracedb/base/sqlite_db.h"
#include "tracedb/query/doc/query_doc.h"
#include "tracedb/report/report_page.h"

namespace tracedb {

struct ShownRun {
  std::string name;                // empty: the database has no trace
  int64_t runs = 0;                // in the database
  int64_t captures = 0;            // of this run
  std::optional<int64_t> capture;  // the one that was asked for
};

// The run that was asked for, else the last to begin. An error names those that there are.
Result<ShownRun> ChooseRun(SqliteDb& db, const ReportOptions& options);

// A chart over time is of one capture: the pause between two belongs to nobody.
std::optional<int64_t> CaptureOf(std::string_view query, const ShownRun& shown);

// "run=NAME" and "capture=1", where the query has these parameters and there is a choice.
std::vector<std::string> ParamsOf(const QueryDoc& doc, const ShownRun& shown);

// What a reader has to know of the choice, in a sentence or two; empty where there was none.
std::string AboutRun(const ShownRun& shown);

}  // namespace tracedb
