// Runtime calls that return when the GPU is done: when each held its thread, and how long the GPU
// ran nothing in them and after them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "derive/call_paths.h"
#include "derive/host_use.h"
#include "tracedb/base/interval.h"

namespace tracedb {

struct SyncKey {
  StepNumber step;
  int64_t event_name = 0;  // 0: of all that had no room
  PathId path = 0;

  auto operator<=>(const SyncKey&) const = default;
  uint64_t Hash() const { return HashNumbers(event_name, path, step.value_or(-1)); }
};

// tables.sql says what each means.
struct SyncSums {
  int64_t calls = 0;
  int64_t total_ns = 0;
  int64_t stalls = 0;
  int64_t stalled_ns = 0;
  int64_t after_ns = 0;
};

using SyncUse = SumTable<SyncKey, SyncSums>;

class SyncCalls {
 public:
  // Remembers when at most `calls_max` were; the others are only counted.
  SyncCalls(size_t calls_max, size_t uses_max) : calls_max_(calls_max), uses_(uses_max) {}
  // What one takes.
  static constexpr size_t kBytesEach = 40;

  // Of calls within one another, or that overlap, the one that began first has the time.
  struct Call : Interval {
    int64_t begun_ns;  // its start, where an earlier one has some of its time
    uint32_t use;      // its number in uses()
  };

  // Starts must not fall. Threads are numbered from 1; 0 stands for one that is not known.
  void Add(uint32_t thread, const Interval& time, const SyncKey& key);

  // The calls that held `thread` in a part of `time`, in order.
  std::span<const Call> In(uint32_t thread, const Interval& time) const;

  SyncUse& uses() { return uses_; }

 private:
  size_t calls_max_;
  size_t count_ = 0;
  std::vector<std::vector<Call>> threads_;
  SyncUse uses_;
};

}  // namespace tracedb
