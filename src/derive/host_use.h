// Sums by step and name over what the host called, and over what it launched on the GPU: the rows
// of host_use and kernel_use while they are gathered.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "tracedb/derive/gathered/host_slices.h"
#include "tracedb/memory/number_hash.h"

namespace tracedb {

// Made-up times may be as long as 64 bits can say: such a sum stays at the most it can be.
inline void AddTime(int64_t& sum_ns, int64_t ns) {
  if (__builtin_add_overflow(sum_ns, ns, &sum_ns)) sum_ns = std::numeric_limits<int64_t>::max();
}

// A profiler step, or none.
using StepNumber = std::optional<int64_t>;

// Rows with a key of their own, made when a key first comes; when there is no room for another,
// they share one row, whose key says nothing.
template <typename Key, typename Sums>
class SumTable {
 public:
  struct Row {
    Key key;
    Sums sums;
  };

  explicit SumTable(size_t rows_max) : rows_max_(rows_max), buckets_(64) {}
  static constexpr size_t kBytesEach = sizeof(Row) + 4 * sizeof(uint32_t);

  // The number of the key's row; numbers stay.
  uint32_t Find(const Key& key) {
    size_t at = Bucket(key);
    if (buckets_[at] != 0) return buckets_[at] - 1;
    if (rows_.size() >= rows_max_) {
      if (rest_ == 0) {
        rows_.push_back({Key{}, {}});
        rest_ = static_cast<uint32_t>(rows_.size());
      }
      return rest_ - 1;
    }
    rows_.push_back({key, {}});
    buckets_[at] = static_cast<uint32_t>(rows_.size());
    if (rows_.size() * 2 > buckets_.size()) Grow();
    return static_cast<uint32_t>(rows_.size() - 1);
  }
  Sums& operator[](uint32_t row) { return rows_[row].sums; }

  // By key. Numbers no longer hold afterwards.
  std::vector<const Row*> Sorted() {
    std::vector<uint32_t>().swap(buckets_);  // its memory is for these
    std::vector<const Row*> sorted;
    sorted.reserve(rows_.size());
    for (const Row& row : rows_) sorted.push_back(&row);
    // Step after step, as they mostly came: a sort by merging has little to do.
    std::stable_sort(sorted.begin(), sorted.end(),
                     [](const Row* a, const Row* b) { return a->key < b->key; });
    return sorted;
  }

 private:
  size_t Bucket(const Key& key) const {
    const size_t mask = buckets_.size() - 1;
    size_t at = key.Hash() & mask;
    while (buckets_[at] != 0 && !(rows_[buckets_[at] - 1].key == key)) at = (at + 1) & mask;
    return at;
  }
  void Grow() {
    std::vector<uint32_t> old(buckets_.size() * 2);
    old.swap(buckets_);
    for (uint32_t row = 0; row < rows_.size(); ++row) {
      if (row + 1 != rest_) buckets_[Bucket(rows_[row].key)] = row + 1;
    }
  }

  size_t rows_max_;
  uint32_t rest_ = 0;  // place + 1 of the row that keys without one share
  std::vector<Row> rows_;
  std::vector<uint32_t> buckets_;  // place + 1; 0 is empty
};

struct HostKey {
  StepNumber step;
  HostKind kind = HostKind::kOperator;
  int64_t event_name = 0;  // 0: of all that had no room
  int64_t args_text = 0;

  auto operator<=>(const HostKey&) const = default;
  uint64_t Hash() const {
    return HashNumbers(event_name * 8 + static_cast<int64_t>(kind), args_text, step.value_or(-1));
  }
};

// tables.sql says what each means.
struct HostSums {
  int64_t calls = 0;
  int64_t total_ns = 0;
  int64_t self_ns = 0;
  int64_t activities = 0;
  int64_t gpu_ns = 0;
  int64_t self_gpu_ns = 0;
  int64_t backward_gpu_ns = 0;
  int64_t self_backward_gpu_ns = 0;

  bool operator==(const HostSums&) const = default;
};

using HostUse = SumTable<HostKey, HostSums>;

struct KernelKey {
  StepNumber step;
  int64_t op = 0;          // event_name; 0: none
  int64_t forward_op = 0;  // event_name; 0: none
  int64_t kernel = 0;      // event_name

  auto operator<=>(const KernelKey&) const = default;
  uint64_t Hash() const { return HashNumbers(op, forward_op, kernel * 31 + step.value_or(-1)); }
};

struct KernelSums {
  int64_t activities = 0;
  int64_t gpu_ns = 0;
};

using KernelUse = SumTable<KernelKey, KernelSums>;

}  // namespace tracedb
