// Whether a database is what an ingest into it relies on; what is damaged is said before anything
// is changed.
#pragma once

#include <atomic>
#include <set>
#include <string>

#include "ingest/build/record_builder.h"
#include "tracedb/base/result.h"
#include "tracedb/base/sqlite_db.h"

namespace tracedb {

// Its pages hang together, and no table has a row after those of the traces. Gives the ids that
// come after them.
Result<FirstIds> CheckDatabase(SqliteDb& db, const std::atomic<bool>* stop);

// The highest number of a source; 0: there is none.
Result<int64_t> LastSource(SqliteDb& db);

// Those of its tables that are not as in the attached database `fresh`, which is new: a user may
// have added columns. One without a column of ours is an Error.
Result<std::set<std::string>> ChangedTables(SqliteDb& db);

}  // namespace tracedb
