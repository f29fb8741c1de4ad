// Correlation -> the runtime call that launched it, for a bounded number of correlations.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace tracedb {

struct LaunchCall {
  int64_t correlation = 0;
  int64_t slice_id = 0;  // 0: no call was offered
  int64_t ts = 0;
};

// The runtime calls of a trace, gathered while it is read, so that they need not be read back.
// Bounded: when there is no room for one more, all are given up.
class LaunchCalls {
 public:
  explicit LaunchCalls(size_t bytes_max) : calls_max_(bytes_max / sizeof(LaunchCall)) {}

  void Add(const LaunchCall& call) {
    if (!complete_) return;
    if (count_ == calls_max_) {
      complete_ = false;
      blocks_.clear();
      return;
    }
    if (count_++ % kBlockCalls == 0) {
      blocks_.emplace_back();
      blocks_.back().reserve(kBlockCalls);
    }
    blocks_.back().push_back(call);
  }

  // False: some were given up, and none are here.
  bool complete() const { return complete_; }
  const std::vector<std::vector<LaunchCall>>& blocks() const { return blocks_; }

 private:
  static constexpr size_t kBlockCalls = 32 * 1024;  // no block is ever copied to grow

  size_t calls_max_;
  size_t count_ = 0;
  bool complete_ = true;
  std::vector<std::vector<LaunchCall>> blocks_;
};

class LaunchTable {
 public:
  explicit LaunchTable(size_t correlations_max)
      : buckets_(std::bit_ceil(correlations_max * 2 + 2)) {
    calls_.reserve(correlations_max);
  }
  // What one correlation takes.
  static constexpr size_t kBytesEach = sizeof(LaunchCall) + 4 * sizeof(uint32_t);

  // The place of a correlation, a new one when it was not wanted before.
  uint32_t Want(int64_t correlation) {
    uint32_t& bucket = Find(correlation);
    if (bucket == 0) {
      calls_.push_back({correlation, 0, 0});
      bucket = static_cast<uint32_t>(calls_.size());
    }
    return bucket - 1;
  }

  // Of several runtime calls with one correlation the first in time counts.
  void Offer(const LaunchCall& offered) {
    const uint32_t bucket = Find(offered.correlation);
    if (bucket == 0) return;
    LaunchCall& call = calls_[bucket - 1];
    if (call.slice_id == 0 || offered.ts < call.ts) call = offered;
  }

  const LaunchCall& At(uint32_t place) const { return calls_[place]; }

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
