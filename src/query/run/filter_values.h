// Whether what a filter asks for is in the database at all.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "tracedb/base/result.h"
#include "tracedb/base/sqlite_db.h"

namespace tracedb {

// What `params`, "key=value" as -p takes them, have for the parameter; nothing where it is not
// given or is null.
std::optional<std::string_view> FilterValue(std::span<const std::string> params,
                                            std::string_view parameter);

// The values that such a text stands for, as JSON for json_each: "0,3..5" is a list of numbers but
// for a run, whose name may be anything.
std::string FilterValuesAsJson(std::string_view parameter, std::string_view value);

// "there is no rank 99; there are ranks 0, 1, 2, 3": of
// the first of rank, step and device whose value the database does not have; or that a limit of 0
// asks for nothing; else empty. A database without the public names has nothing to say.
Result<std::string> DescribeMissingValue(SqliteDb& db, std::span<const std::string> params);

}  // namespace tracedb
