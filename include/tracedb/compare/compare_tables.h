// A comparison as tables, for SQL: beside the two databases, under the names base and new.
#pragma once

#include <filesystem>

#include "tracedb/base/result.h"
#include "tracedb/base/sqlite_db.h"
#include "tracedb/compare/comparison.h"

namespace tracedb {

// A connection with the tables compare_parts, compare_rows, compare_ranks, compare_differences and
// compare_unlike, and with the databases of the first run of each side attached: base.kernels,
// new.kernels.
Result<SqliteDb> OpenComparison(const Comparison& comparison, const std::filesystem::path& base,
                                const std::filesystem::path& now);

}  // namespace tracedb
