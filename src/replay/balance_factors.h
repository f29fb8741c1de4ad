// How much longer or shorter each rank would compute if work were evened out.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "replay/job_rows.h"
#include "tracedb/base/result.h"
#include "tracedb/base/sqlite_db.h"

namespace tracedb {

using BalancedBy = std::map<std::pair<int64_t, int64_t>, double>;  // by step and rank

// `what` is ranks: each by itself; or stages: those of a pipeline's stage together. kUsage for
// another, and where no stages are known.
Result<BalancedBy> BalanceFactors(SqliteDb& db, const JobRows& job, const std::string& what);

}  // namespace tracedb
