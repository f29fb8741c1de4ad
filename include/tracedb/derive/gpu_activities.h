// The GPU activities of a trace as they were gathered while it was read, and the same in other
// orders: what derive_trace.cc makes its tables of.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "tracedb/base/result.h"
#include "tracedb/memory/packed_rows.h"

namespace tracedb {

struct GpuActivity {
  int64_t id = 0;
  int64_t ts = 0;
  int64_t dur = 0;
  int64_t track = 0;
  int64_t correlation = 0;
  int64_t event_name = 0;
  int64_t external_id = 0;
  int64_t args_text = 0;  // communication only
  int kind = 0;
  bool has_dur = false;
  bool has_correlation = false;
  bool has_external_id = false;
};

class GpuActivities {
 public:
  GpuActivities(std::filesystem::path folder, size_t bytes_max)
      : rows_(std::move(folder), bytes_max) {}

  size_t count() const { return rows_.rows(); }
  Status Add(const GpuActivity& activity) {
    const int64_t flags = activity.kind | (activity.has_dur ? 4 : 0) |
                          (activity.has_correlation ? 8 : 0) | (activity.has_external_id ? 16 : 0);
    return rows_.Add({activity.id, activity.ts, activity.dur, activity.track, activity.correlation,
                      flags, activity.event_name, activity.external_id, activity.args_text});
  }
  // In the order of their ids.
  template <typename Take>
  Status ForEach(Take take) const {
    return rows_.ForEach([&take](const PackedRows<9>::Row& row) {
      take(GpuActivity{row[0], row[1], row[2], row[3], row[4], row[6], row[7], row[8],
                       static_cast<int>(row[5] & 3), (row[5] & 4) != 0, (row[5] & 8) != 0,
                       (row[5] & 16) != 0});
    });
  }

 private:
  PackedRows<9> rows_;
};

// An activity's place in some order: by group, then key, then value.
struct SortEntry {
  int64_t key = 0;
  int64_t value = 0;
  uint32_t group = 0;
  uint32_t tag = 0;   // what else is needed to know of it
  uint64_t more = 0;  // and more of it
};

// Gives activities in another order, in lots of at most `entries_max`, going through all of them as
// often as that takes.
class SortedActivities {
 public:
  // False: the activity is left out. Among those with the same group and key, values must rise with
  // the ids, or not matter.
  using Describe = std::function<bool(const GpuActivity&, SortEntry&)>;
  using Give = std::function<Status(std::vector<SortEntry>&)>;  // may take the entries away

  SortedActivities(const GpuActivities& activities, size_t entries_max, Describe describe)
      : activities_(activities), entries_max_(entries_max), describe_(std::move(describe)) {}

  // Groups are numbered below `groups`.
  Status ForEach(uint32_t groups, const Give& give);

 private:
  struct Range {  // of groups and of keys, ends included
    uint32_t group_first;
    uint32_t group_last;
    int64_t key_first;
    int64_t key_last;
  };

  template <typename Take>
  Status ForEachIn(const Range& range, Take take) const;
  Status GiveSorted(const Range& range, size_t count, const Give& give);
  Status GiveAsTheyCome(const Range& range, const Give& give);
  Status GiveSplit(uint32_t group, int64_t key_first, int64_t key_last, const Give& give);

  const GpuActivities& activities_;
  size_t entries_max_;
  Describe describe_;
  std::vector<SortEntry> lot_;
};

}  // namespace tracedb
