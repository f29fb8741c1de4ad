// What marks a SQLite file as one of ours: PRAGMA application_id and PRAGMA user_version.
#pragma once

#include <cstdint>

namespace tracedb {

inline constexpr int32_t kApplicationId = 0x54524442;  // "TRDB"
// Goes up by one when a query made for the older tables would no longer run.
inline constexpr int32_t kSchemaVersion = 13;

}  // namespace tracedb
