// How a rank's times compare with the others': the table clock, and the one formula that applies
// it. In SQL the same formula is @aligned:TIME@ of views.sql.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "tracedb/base/result.h"
#include "tracedb/base/sqlite_db.h"

namespace tracedb {

// Without a row in the table a rank's times are as they are.
struct RankClock {
  int64_t offset_ns = 0;
  int64_t drift_ppb = 0;  // parts in 10^9
  int64_t origin_ns = 0;

  int64_t Aligned(int64_t ts_ns) const;
  // The first time of this clock whose aligned one is not before `aligned_ns`.
  int64_t Own(int64_t aligned_ns) const;
};

class RankClocks {
 public:
  static Result<RankClocks> Read(SqliteDb& db);

  RankClock Of(int64_t rank) const {
    const auto found = clocks_.find(rank);
    return found == clocks_.end() ? RankClock{} : found->second;
  }
  // What is to be added to a time of this rank.
  int64_t ShiftNs(int64_t rank, int64_t ts_ns) const { return Of(rank).Aligned(ts_ns) - ts_ns; }

 private:
  std::map<int64_t, RankClock> clocks_;
};

// SQL for the aligned time of `time`, with the rank's row of the table clock, or NULLs, as `c`.
std::string AlignedSql(const std::string& time);

}  // namespace tracedb
