// Why a query has no row: what a check of the data says of the ranks that it would tell of.
#pragma once

#include <span>
#include <string>

#include "tracedb/base/result.h"
#include "tracedb/base/sqlite_db.h"

namespace tracedb {

// `checks` are queries with the columns rank and reason, `params` are "key=value" as -p takes them.
// "ranks 0, 1: no GPU activity was recorded, but ...; `tracedb doctor` says what to do": of the
// ranks (the one that `params` ask for, or all) with a row in one of them. Empty where there are
// none, and where another of these ranks has GPU activity: then that is not why.
Result<std::string> DescribeEmptiness(SqliteDb& db, std::span<const std::string> checks,
                                      std::span<const std::string> params);

}  // namespace tracedb
