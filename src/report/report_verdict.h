// What a page says first: in one sentence where the time of a step went and who is at fault, or
// that nothing stands out, or that the data cannot tell.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "report/lane_shares.h"
#include "report/query_rows.h"
#include "report/shown_run.h"
#include "tracedb/base/result.h"
#include "tracedb/base/sqlite_db.h"
#include "tracedb/doctor/doctor_checks.h"
#include "tracedb/query/doc/query_catalog.h"

namespace tracedb {

struct PageVerdict {
  std::string kind;  // late, problem, nothing, unknown
  std::string sentence;
  std::optional<int64_t> step;
  std::optional<int64_t> rank;
  // Gains of each recommendation in each step: [{"number","step","before_ms","after_ms"},...].
  std::string gains_json = "[]";
};

struct VerdictFacts {
  std::vector<std::vector<RowValue>> recorded;         // rows of report/recorded
  std::vector<std::vector<RowValue>> recommendations;  // of recommendations
  std::vector<std::vector<RowValue>> late_ranks;       // of report/late_ranks
  std::vector<std::vector<RowValue>> straggler_steps;  // of straggler_steps
  std::vector<std::vector<RowValue>> critical_path;    // of critical_path_by
  const DoctorReport* checks = nullptr;                // null: none was made
  std::optional<int64_t> step;                         // asked for; none: any
  bool host_only = false;
};

// The change that gains most in one step names the cause; what it gains is by replay.
Result<PageVerdict> MakeVerdict(SqliteDb& db, const QueryCatalog& catalog, const ShownRun& run,
                                const VerdictFacts& facts, const LaneShares& lanes);

// {"kind","sentence","step","rank"}
std::string VerdictAsJson(const PageVerdict& verdict);

}  // namespace tracedb
