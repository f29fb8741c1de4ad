// Which long slice of a host thread is the innermost at each moment. An annotation around it that
// is hardly longer says more to a person, and is taken for it.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "tracedb/base/interval.h"
#include "tracedb/base/result.h"
#include "tracedb/base/sqlite_db.h"
#include "tracedb/schema/rank_clock.h"

namespace tracedb {

struct OwnedStretch {
  Interval range;  // by the aligned clocks
  int64_t slice_id;
  int64_t event_name;
};

class HostOwners {
 public:
  static Result<HostOwners> Open(SqliteDb& db);

  // In the order of time; there are gaps where no slice is long (kLongSliceNs). On the database
  // that it was opened on, by any connection; read once, and kept as long as this.
  Result<const std::vector<OwnedStretch>*> Of(SqliteDb& db, int64_t track_id, int64_t trace_id);

 private:
  struct LongSlice {
    Interval range;
    int64_t id;
    int64_t event_name;
    bool is_annotation;
    int parent = -1;
  };

  explicit HostOwners(RankClocks clocks) : clocks_(std::move(clocks)) {}
  Result<std::vector<LongSlice>> Read(SqliteDb& db, int64_t track_id, const RankClock& clock) const;
  static std::vector<OwnedStretch> Flatten(std::vector<LongSlice>& slices);
  static const LongSlice& Named(const std::vector<LongSlice>& slices, const LongSlice& inner);

  RankClocks clocks_;
  std::unordered_set<int64_t> annotations_, steps_;               // event_name
  std::unordered_map<int64_t, std::vector<OwnedStretch>> owned_;  // by track
};

}  // namespace tracedb
