// GPU activities, or long slices, in another order than that in which they were gathered.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "tracedb/base/result.h"
#include "tracedb/derive/gpu_activities.h"
#include "tracedb/derive/long_slices.h"
#include "tracedb/schema/event_tables.h"

namespace tracedb {

// An item's place in some order: by group, then key, then value.
struct SortEntry {
  int64_t key = 0;
  int64_t value = 0;
  uint32_t group = 0;
  // What busy time needs of an activity; other orders leave it.
  uint16_t track_place = 0;  // among the trace's tracks
  GpuKind kind = GpuKind::kCompute;
  uint64_t launch_facts = 0;  // LaunchFacts::Packed()
};
static_assert(sizeof(SortEntry) == 32);

// Gives what was gathered in another order, in lots of at most `entries_max`, going through all of
// them as often as that takes.
template <typename Gathered>
class SortedItems {
 public:
  using Item = typename Gathered::Item;
  // False: the item is left out. Among those with the same group and key, values must rise with
  // the ids, or not matter.
  using Describe = std::function<bool(const Item&, SortEntry&)>;
  using Give = std::function<Status(std::vector<SortEntry>&)>;  // may take the entries away

  SortedItems(const Gathered& items, size_t entries_max, Describe describe)
      : items_(items), entries_max_(entries_max), describe_(std::move(describe)) {}

  // Groups are numbered below `groups`.
  Status ForEach(uint32_t groups, const Give& give);

 private:
  // Of groups and of keys, ends included.
  struct Range {
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

  const Gathered& items_;
  size_t entries_max_;
  Describe describe_;
  std::vector<SortEntry> lot_;
};

}  // namespace tracedb
