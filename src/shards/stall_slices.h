// The slices of a rank that show what held it before a collective for which it came last: of its
// summary only the row groups that reach into such a stretch are read.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "shards/summary_load.h"
#include "tracedb/base/result.h"
#include "tracedb/base/sqlite_db.h"

namespace tracedb {

// Before a part that came last, from the first part's start to its own, by the rank's own clock.
struct StallStretch {
  int64_t part_id = 0;
  int64_t start_ns = 0;
  int64_t end_ns = 0;
};

class StallSlices {
 public:
  // Reads temp.stall.
  static Result<StallSlices> Open(SqliteDb& db);
  Status Add(const FoundShard& shard, const SummaryTrace& trace);

 private:
  Status AddGpu(const FoundShard& shard, const SummaryTrace& trace,
                const std::vector<StallStretch>& stretches);
  Status AddHost(const FoundShard& shard, const SummaryTrace& trace, size_t table,
                 const std::vector<StallStretch>& stretches);

  std::map<int64_t, std::vector<StallStretch>> stretches_;  // by trace
  std::optional<SqliteStatement> gpu_, launch_, call_;
  std::vector<SqliteStatement> host_;
};

}  // namespace tracedb
