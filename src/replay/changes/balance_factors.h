// How much longer or shorter each rank would compute if work were evened out.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "replay/graph/job_rows.h"
#include "tracedb/base/result.h"
#include "tracedb/base/sqlite_db.h"

namespace tracedb {

using BalancedBy = std::map<std::pair<int64_t, int64_t>, double>;  // by step and rank

// With `what` "ranks" each rank is evened out with all others, with "stages" each stage of the
// pipeline. kUsage for any other text, and for "stages" where no group is a pipeline's.
Result<BalancedBy> BalanceFactors(SqliteDb& db, const JobRows& job, const std::string& what);

}  // namespace tracedb
