// Which tables a statement reads, by the plan that SQLite makes of it: through all views.
#pragma once

#include <set>
#include <string>
#include <string_view>

#include "tracedb/base/result.h"
#include "tracedb/base/sqlite_db.h"

namespace tracedb {

// Those of the main schema, for the first statement of `sql`; `next` gets what follows it. An error
// where it cannot be compiled.
Result<std::set<std::string>> OpenedTables(SqliteDb& db, std::string_view sql,
                                           std::string_view* next = nullptr);

}  // namespace tracedb
