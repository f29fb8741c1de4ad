// How the clocks of the ranks in each capture compare, determined by the ends of the collectives
// they took part in: all ranks leave one together. Fills the tables _clock and _clock_pair.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

#include "tracedb/base/result.h"
#include "tracedb/base/sqlite_db.h"

namespace tracedb {

// A connection that may write, waits for others who write, and stops once `stop`, which may be
// null, is true; `cache_kib` is for SQLite's pages. Opening one reads the schema of the whole
// database: what compares ranks shares it, and may have it from who has one `opened` to it.
Result<SqliteDb> OpenToCompare(const std::filesystem::path& database, int64_t cache_kib,
                               const std::atomic<bool>* stop,
                               std::optional<SqliteDb> opened = std::nullopt);

enum class AlignScope {
  kNewTraces,   // nothing is done when no trace came or went since the stalls were explained
  kEverything,  // all anew
};

struct AlignReport {
  int64_t captures = 0;        // in the database; each is compared by itself
  int64_t ranks = 0;           // of all captures
  int64_t ranks_compared = 0;  // that share enough collectives with another one
  int64_t ranks_moved = 0;     // whose times are corrected
  int64_t ranks_refused = 0;   // whose correction would be longer than the capture
  int64_t largest_ns = 0;      // of the corrections, in the middle of the capture
  // Each is the lowest rank of a part of the job whose clocks compare with one another; more than
  // one: nothing tells how those parts compare.
  std::vector<int64_t> references;
  bool is_done = false;  // false: there was nothing to do, and the rest is not known
  bool changed = false;  // aligned times are others now; the stalls are to be explained anew
};

// In one transaction, together with the removal of what was explained by other clocks: stopped or
// killed, the database is the one from before, and the next call does it. A database in which
// nothing changes is not written to.
Result<AlignReport> AlignClocks(SqliteDb& db, AlignScope scope);

// Takes the alignment out: all times are as the traces have them, until AlignClocks does its work
// again. True: that changed something.
Result<bool> ResetClocks(SqliteDb& db);

}  // namespace tracedb
