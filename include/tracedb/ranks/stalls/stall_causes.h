// Why ranks were late for collectives: fills the table collective_cause of a finished database.
//
// Reads what all traces in it say of one another, so it comes after the last of them has landed,
// and again when the clocks have been aligned.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>

#include "tracedb/base/result.h"
#include "tracedb/base/sqlite_db.h"

namespace tracedb {

enum class ExplainScope {
  kNewTraces,   // nothing is done when no trace came or went since the last time
  kEverything,  // all anew: the table clock has changed
};

struct ExplainOptions {
  ExplainScope scope = ExplainScope::kNewTraces;
  // That look for causes, each with a connection of its own and kExplainBytesEach.
  unsigned threads = 1;
  const std::atomic<bool>* stop = nullptr;  // that these look at
  // A thread takes as long to begin as some hundred causes to be found: it wants so many stalls.
  int64_t stalls_each = 1000;
  // Called once temp.stall says who came last where; may add the slices that show why. With one
  // thread only, as what it adds is seen by this connection alone.
  std::function<Status(SqliteDb&)> before_causes;
};

inline constexpr size_t kExplainBytesEach = size_t{8} << 20;

// In one transaction: stopped or killed, the database is the one from before, and the next call
// does it. The connection is one of OpenToCompare() (align_clocks.h).
Status ExplainStalls(SqliteDb& db, const ExplainOptions& options);

}  // namespace tracedb
