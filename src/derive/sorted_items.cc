#include "derive/sorted_items.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

namespace tracedb {
namespace {

// Small, so that many runs are merged at once where there is little memory.
constexpr size_t kBlockBytes = 16 * 1024;
constexpr size_t kRunsMax = 64;
constexpr int kKindBits = 8;

// A quarter of the memory for what is being sorted, a quarter for runs, half for what the runs that
// are being read and written have at hand.
std::shared_ptr<PackedSpace> SpaceFor(std::filesystem::path folder, size_t bytes_max) {
  return std::make_shared<PackedSpace>(std::move(folder), bytes_max / 4, kBlockBytes);
}

}  // namespace

template <typename Gathered>
SortedItems<Gathered>::Row::Row(const SortEntry& entry)
    : group(entry.group),
      key(entry.key),
      value(entry.value),
      place_and_kind(int64_t{entry.track_place} << kKindBits | static_cast<int64_t>(entry.kind)),
      launch_facts(static_cast<int64_t>(entry.launch_facts)) {}

template <typename Gathered>
SortEntry SortedItems<Gathered>::Row::Entry() const {
  return {key,
          value,
          static_cast<uint32_t>(group),
          static_cast<uint16_t>(place_and_kind >> kKindBits),
          static_cast<GpuKind>(place_and_kind & ((1 << kKindBits) - 1)),
          static_cast<uint64_t>(launch_facts)};
}

template <typename Gathered>
SortedItems<Gathered>::SortedItems(std::filesystem::path folder, size_t bytes_max)
    : runs_(SpaceFor(std::move(folder), bytes_max),
            {.lot_rows = std::max<size_t>(1, bytes_max / 4 / sizeof(Row)),
             .runs_max = std::clamp<size_t>(bytes_max / 2 / (2 * kBlockBytes), 2, kRunsMax)}) {}

template <typename Gathered>
Status SortedItems<Gathered>::Sort(const Gathered& items, const Describe& describe) {
  Status added = Done{};
  TRACEDB_TRY(items.ForEach([&](const Item& item) {
    SortEntry entry;
    if (added.ok() && describe(item, entry)) added = runs_.Add(Row(entry));
  }));
  TRACEDB_TRY(added);
  return runs_.Finish();
}

template <typename Gathered>
Status SortedItems<Gathered>::ForEach(const Give& give) const {
  std::vector<SortEntry> given;
  given.reserve(kGivenMax);
  typename SortedRuns<Row, Before>::Reader reader(runs_);
  for (; reader.row() != nullptr; reader.Next()) {
    given.push_back(reader.row()->Entry());
    if (given.size() < kGivenMax) continue;
    TRACEDB_TRY(give(given));
    given.clear();
  }
  TRACEDB_TRY(reader.status());
  return given.empty() ? Status(Done{}) : give(given);
}

template class SortedItems<GpuActivities>;
template class SortedItems<LongSlices>;

}  // namespace tracedb
