// The ranks' times on one clock, as the table `clock` says. Ranks without a row stay as they are.
#pragma once

#include <cstdint>
#include <map>

#include "tracedb/base/result.h"
#include "tracedb/base/sqlite_db.h"

namespace tracedb {

class CauseClocks {
 public:
  static Result<CauseClocks> Read(SqliteDb& db) {
    CauseClocks clocks;
    TRACEDB_ASSIGN(rows, db.Prepare("SELECT rank, offset_ns, drift_ppb, origin_ns FROM clock"));
    for (;;) {
      TRACEDB_ASSIGN(row, rows.Step());
      if (!row) return clocks;
      clocks.of_rank_[rows.Int(0)] = {rows.Int(1), rows.Int(2), rows.Int(3)};
    }
  }

  // What is to be added to a time of this rank. The same arithmetic as in the queries.
  int64_t ShiftNs(int64_t rank, int64_t ts_ns) const {
    const auto found = of_rank_.find(rank);
    if (found == of_rank_.end()) return 0;
    const Clock& clock = found->second;
    return clock.offset_ns + (ts_ns - clock.origin_ns) * clock.drift_ppb / 1'000'000'000;
  }

 private:
  struct Clock {
    int64_t offset_ns;
    int64_t drift_ppb;
    int64_t origin_ns;
  };
  std::map<int64_t, Clock> of_rank_;
};

}  // namespace tracedb
