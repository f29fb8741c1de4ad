// Whether a database is what an ingest into it relies on; what is damaged is said before anything
// is changed.
#pragma once

#include <atomic>
#include <cstdint>

#include "ingest/build/record_builder.h"
#include "tracedb/base/result.h"
#include "tracedb/base/sqlite_db.h"

namespace tracedb {

struct FreeIds {
  FirstIds first;          // of the next trace
  int64_t first_path = 1;  // of its first row in _call_path
};

// Its pages hang together, and no table has a row behind those of the traces. Gives the ids that
// come after them.
Result<FreeIds> CheckDatabase(SqliteDb& db, const std::atomic<bool>* stop);

// Its tables have all columns of those of the attached database `fresh`, which is new; a user may
// have added others.
Status CheckTables(SqliteDb& db);

}  // namespace tracedb
