// Why ranks were late for collectives: fills the table collective_cause of a finished database.
//
// Reads what all traces in it say of one another, so it comes after the last of them has landed,
// and again when the clocks have been aligned.
#pragma once

#include <atomic>
#include <filesystem>

#include "tracedb/base/result.h"

namespace tracedb {

enum class ExplainScope {
  kNewTraces,   // nothing is done when no trace came or went since the last time
  kEverything,  // all anew: the table clock has changed
};

// In one transaction: stopped or killed, the database is the one from before, and the next call
// does it. Waits for others who write. `stop` may be null; `cache_kib` is for SQLite's pages.
Status ExplainStalls(const std::filesystem::path& database, ExplainScope scope, int64_t cache_kib,
                     const std::atomic<bool>* stop);

}  // namespace tracedb
