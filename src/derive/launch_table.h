// Correlation -> the runtime call that launched it, for a bounded number of correlations.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <utility>
#include <vector>

#include "derive/call_paths.h"
#include "tracedb/base/result.h"
#include "tracedb/memory/packed_rows.h"

namespace tracedb {

struct LaunchCall {
  int64_t correlation = 0;
  int64_t slice_id = 0;  // 0: no call was offered
  int64_t ts = 0;
  PathId path = 0;  // on which it was made
  PathId forward = 0;
  uint32_t thread = 0;  // that made it, numbered from 1
};

// The runtime calls of a trace that have a correlation, with the paths on which they were made.
class LaunchCalls {
 public:
  LaunchCalls(std::filesystem::path folder, size_t bytes_max)
      : rows_(std::move(folder), bytes_max) {}

  Status Add(const LaunchCall& call) {
    return rows_.Add(
        {call.correlation, call.slice_id, call.ts, call.path, call.forward, call.thread});
  }
  template <typename Take>
  Status ForEach(Take take) const {
    return rows_.ForEach([&take](const Row& row) {
      take(LaunchCall{row.correlation, row.slice_id, row.ts, static_cast<PathId>(row.path),
                      static_cast<PathId>(row.forward), static_cast<uint32_t>(row.thread)});
    });
  }

 private:
  struct Row {
    int64_t correlation, slice_id, ts, path, forward, thread;
  };

  PackedRows<Row> rows_;
};

class LaunchTable {
 public:
  explicit LaunchTable(size_t correlations_max)
      : buckets_(std::bit_ceil(correlations_max * 2 + 2)) {
    calls_.reserve(correlations_max);
  }
  // What one correlation takes.
  static constexpr size_t kBytesEach = sizeof(LaunchCall) + 4 * sizeof(uint32_t);

  void Want(int64_t correlation) {
    uint32_t& bucket = Find(correlation);
    if (bucket != 0) return;
    calls_.emplace_back().correlation = correlation;
    bucket = static_cast<uint32_t>(calls_.size());
  }

  // Of several runtime calls with one correlation the first in time counts.
  void Offer(const LaunchCall& offered) {
    const uint32_t bucket = Find(offered.correlation);
    if (bucket == 0) return;
    LaunchCall& call = calls_[bucket - 1];
    if (call.slice_id == 0 || offered.ts < call.ts) call = offered;
  }

  // The call that was offered for a correlation that is wanted; slice_id 0: none was.
  const LaunchCall& Of(int64_t correlation) { return calls_[Find(correlation) - 1]; }

 private:
  uint32_t& Find(int64_t correlation) {
    const size_t mask = buckets_.size() - 1;
    size_t at = (static_cast<uint64_t>(correlation) * 0x9e3779b97f4a7c15u >> 20) & mask;
    while (buckets_[at] != 0 && calls_[buckets_[at] - 1].correlation != correlation) {
      at = (at + 1) & mask;
    }
    return buckets_[at];
  }

  std::vector<uint32_t> buckets_;  // place + 1; 0 is empty
  std::vector<LaunchCall> calls_;
};

}  // namespace tracedb
