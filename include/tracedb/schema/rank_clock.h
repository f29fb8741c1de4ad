// How the times of a rank in a capture compare with the others': the table _clock, and the one
// formula that applies it. In SQL the same formula is @aligned:TIME@ of views.sql.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "tracedb/base/interval.h"
#include "tracedb/base/result.h"
#include "tracedb/base/sqlite_db.h"

namespace tracedb {

// Without a row in the table a trace's times are as they are.
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

  RankClock Of(int64_t trace_id) const {
    const auto found = clocks_.find(trace_id);
    return found == clocks_.end() ? RankClock{} : found->second;
  }
  // What is to be added to a time of this trace.
  int64_t ShiftNs(int64_t trace_id, int64_t ts_ns) const {
    return DifferenceNs(Of(trace_id).Aligned(ts_ns), ts_ns);
  }

 private:
  std::map<int64_t, RankClock> clocks_;  // by trace
};

// SQL for the aligned time of `time`, with the trace's row of the table _clock, or NULLs, as `c`.
std::string AlignedSql(const std::string& time);

}  // namespace tracedb
