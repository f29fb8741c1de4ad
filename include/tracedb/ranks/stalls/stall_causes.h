// Why ranks were late for collectives: fills the table collective_cause of a finished database.
//
// Reads what all traces in it say of one another, so it comes after the last of them has landed,
// and again when the clocks have been aligned.
#pragma once

#include <functional>

#include "tracedb/base/result.h"
#include "tracedb/base/sqlite_db.h"

namespace tracedb {

enum class ExplainScope {
  kNewTraces,   // nothing is done when no trace came or went since the last time
  kEverything,  // all anew: the table clock has changed
};

// In one transaction: stopped or killed, the database is the one from before, and the next call
// does it. The connection is one of OpenToCompare() (align_clocks.h). `before_causes` is called
// once temp.stall says who came last where, and may add the slices that show why.
Status ExplainStalls(SqliteDb& db, ExplainScope scope,
                     const std::function<Status(SqliteDb&)>& before_causes = {});

}  // namespace tracedb
