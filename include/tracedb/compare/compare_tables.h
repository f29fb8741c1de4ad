// A comparison as tables, for SQL: beside the two databases, under the names base and new.
#pragma once

#include <filesystem>
#include <vector>

#include "tracedb/base/result.h"
#include "tracedb/base/sqlite_db.h"
#include "tracedb/compare/comparison.h"

namespace tracedb {

// A connection with the tables compare_step, compare_parts, compare_rows, compare_ranks,
// compare_differences, compare_unlike and compare_runs, and with the databases attached:
// base.kernels of the first run of base, base2.kernels of the next of its runs in another database,
// new.kernels. `base` and `now` are the databases of the runs. compare_runs says where each run is.
Result<SqliteDb> OpenComparison(const Comparison& comparison,
                                const std::vector<std::filesystem::path>& base,
                                const std::vector<std::filesystem::path>& now);

}  // namespace tracedb
