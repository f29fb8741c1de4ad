// GPU activities, or long slices, in another order than that in which they were gathered.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <tuple>

#include "tracedb/base/result.h"
#include "tracedb/derive/gathered/gpu_activities.h"
#include "tracedb/derive/gathered/long_slices.h"
#include "tracedb/memory/sorted_runs.h"
#include "tracedb/schema/event_tables.h"

namespace tracedb {

// An item's place in some order: by group, then key, then value.
struct SortEntry {
  int64_t key = 0;
  int64_t value = 0;
  uint32_t group = 0;
  // What busy time needs of an activity; other orders leave it.
  uint16_t stream = 0;  // among those of the trace
  GpuKind kind = GpuKind::kCompute;
  uint64_t launch_facts = 0;  // LaunchFacts::Packed()
};

// Sorts entries: some at a time, into a run that is packed, and what does not fit in memory into a
// file; then the runs are merged. Of very many runs some are merged on the way.
class SortedEntries {
 public:
  using Give = std::function<Status(std::span<const SortEntry>)>;

  // `folder` is for what does not fit in `bytes_max`.
  SortedEntries(std::filesystem::path folder, size_t bytes_max);

  Status Add(const SortEntry& entry) { return runs_.Add(Row(entry)); }
  // After the last one.
  Status Finish() { return runs_.Finish(); }
  // In lots of at most kGivenMax; an error of `give` ends it.
  Status ForEach(const Give& give) const;

  static constexpr size_t kGivenMax = 2048;

 private:
  struct Row {
    int64_t group, key, value;
    int64_t stream_and_kind;
    int64_t launch_facts;

    explicit Row(const SortEntry& entry);
    Row() = default;
    SortEntry Entry() const;
  };
  // By all columns: the order is the same however many fit.
  struct Before {
    static auto Key(const Row& row) {
      return std::tie(row.group, row.key, row.value, row.stream_and_kind, row.launch_facts);
    }
    bool operator()(const Row& a, const Row& b) const { return Key(a) < Key(b); }
  };

  SortedRuns<Row, Before> runs_;
};

// What was gathered is gone through once, however little memory there is.
template <typename Gathered>
class SortedItems : public SortedEntries {
 public:
  using SortedEntries::SortedEntries;
  using Item = typename Gathered::Item;
  // False: the item is left out.
  using Describe = std::function<bool(const Item&, SortEntry&)>;

  // Once.
  Status Sort(const Gathered& items, const Describe& describe);
};

}  // namespace tracedb
