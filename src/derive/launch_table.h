// Correlation -> the runtime call that launched it, for a bounded number of correlations.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <utility>
#include <vector>

#include "derive/call_paths.h"
#include "tracedb/base/result.h"
#include "tracedb/memory/number_hash.h"
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

// From the least to the most, both included.
struct CorrelationRange {
  int64_t least = std::numeric_limits<int64_t>::max();
  int64_t most = std::numeric_limits<int64_t>::min();

  void Add(int64_t correlation) {
    least = std::min(least, correlation);
    most = std::max(most, correlation);
  }
  bool Meets(const CorrelationRange& other) const {
    return least <= other.most && other.least <= most;
  }
};

// The runtime calls of a trace that have a correlation, with the paths on which they were made.
// Correlations are counted up as calls are made: those of a lot of activities are close together
// here, and the other calls need not be read for it. Where they are not, all are read.
class LaunchCalls {
 public:
  LaunchCalls(std::filesystem::path folder, size_t bytes_max)
      : rows_(std::move(folder), bytes_max) {}

  Status Add(const LaunchCall& call) {
    if (rows_.rows() % kRowsEach == 0) ranges_.emplace_back();
    ranges_.back().Add(call.correlation);
    return rows_.Add(
        {call.correlation, call.slice_id, call.ts, call.path, call.forward, call.thread});
  }
  // In the order in which they were added. Calls outside `range` may be given as well.
  template <typename Take>
  Status ForEach(const CorrelationRange& range, Take take) const {
    for (size_t first = 0; first < ranges_.size();) {
      size_t end = first;
      while (end < ranges_.size() && ranges_[end].Meets(range)) ++end;
      if (end == first) {
        ++first;
        continue;
      }
      TRACEDB_TRY(rows_.ForEach(first * kRowsEach, end * kRowsEach, [&take](const Row& row) {
        take(LaunchCall{row.correlation, row.slice_id, row.ts, static_cast<PathId>(row.path),
                        static_cast<PathId>(row.forward), static_cast<uint32_t>(row.thread)});
      }));
      first = end + 1;
    }
    return Done{};
  }

 private:
  struct Row {
    int64_t correlation, slice_id, ts, path, forward, thread;
  };

  static constexpr size_t kRowsEach = 4096;

  PackedRows<Row> rows_;
  std::vector<CorrelationRange> ranges_;  // of each kRowsEach rows
};

class LaunchTable {
 public:
  explicit LaunchTable(size_t correlations_max)
      : buckets_(std::bit_ceil(std::max(correlations_max * 2, kNear))) {
    calls_.reserve(correlations_max);
  }
  // What one correlation takes.
  static constexpr size_t kBytesEach = sizeof(LaunchCall) + 4 * sizeof(uint32_t);

  void Want(int64_t correlation) {
    uint32_t& bucket = Find(correlation);
    if (bucket != 0) return;
    wanted_.Add(correlation);
    calls_.emplace_back().correlation = correlation;
    bucket = static_cast<uint32_t>(calls_.size());
  }

  const CorrelationRange& wanted() const { return wanted_; }

  // Of several runtime calls with one correlation the first in time counts.
  void Offer(const LaunchCall& offered) {
    ++offers_;
    const uint32_t bucket = Find(offered.correlation);
    if (bucket == 0) return;
    LaunchCall& call = calls_[bucket - 1];
    if (call.slice_id == 0 || offered.ts < call.ts) call = offered;
  }

  size_t offers() const { return offers_; }

  // The call that was offered for a correlation that is wanted; slice_id 0: none was.
  const LaunchCall& Of(int64_t correlation) { return calls_[Find(correlation) - 1]; }

 private:
  // So many correlations that follow each other are side by side, in one cache line.
  static constexpr size_t kNear = 16;

  uint32_t& Find(int64_t correlation) {
    const size_t mask = buckets_.size() - 1;
    const auto bits = static_cast<uint64_t>(correlation);
    size_t at = (HashNumbers(correlation >> 4, 0, 0) * kNear + bits % kNear) & mask;
    while (buckets_[at] != 0 && calls_[buckets_[at] - 1].correlation != correlation) {
      at = (at + 1) & mask;
    }
    return buckets_[at];
  }

  std::vector<uint32_t> buckets_;  // place + 1; 0 is empty
  std::vector<LaunchCall> calls_;
  CorrelationRange wanted_;
  size_t offers_ = 0;
};

}  // namespace tracedb
