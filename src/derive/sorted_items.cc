#include "derive/sorted_items.h"

#include <algorithm>
#include <array>
#include <limits>
#include <tuple>

namespace tracedb {
namespace {

constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();
constexpr int64_t kMost = std::numeric_limits<int64_t>::max();

// An object, so that sorting need not call it through a pointer.
constexpr auto kBefore = [](const SortEntry& a, const SortEntry& b) {
  return std::tie(a.group, a.key, a.value) < std::tie(b.group, b.key, b.value);
};

}  // namespace

template <typename Gathered>
template <typename Take>
Status SortedItems<Gathered>::ForEachIn(const Range& range, Take take) const {
  return items_.ForEach([&](const Item& item) {
    SortEntry entry;
    if (!describe_(item, entry)) return;
    if (entry.group < range.group_first || entry.group > range.group_last) return;
    if (entry.key < range.key_first || entry.key > range.key_last) return;
    take(entry);
  });
}

template <typename Gathered>
Status SortedItems<Gathered>::ForEach(uint32_t groups, const Give& give) {
  if (groups == 0) return Done{};
  const Range all{0, groups - 1, kLeast, kMost};
  if (items_.count() <= entries_max_) return GiveSorted(all, items_.count(), give);
  std::vector<size_t> counts(groups);
  TRACEDB_TRY(ForEachIn(all, [&](const SortEntry& entry) { ++counts[entry.group]; }));
  for (uint32_t first = 0; first < groups;) {
    if (counts[first] > entries_max_) {
      TRACEDB_TRY(GiveSplit(first, kLeast, kMost, give));
      ++first;
      continue;
    }
    size_t count = 0;
    uint32_t next = first;
    while (next < groups && count + counts[next] <= entries_max_) count += counts[next++];
    if (count > 0) TRACEDB_TRY(GiveSorted({first, next - 1, kLeast, kMost}, count, give));
    first = next;
  }
  return Done{};
}

template <typename Gathered>
Status SortedItems<Gathered>::GiveSorted(const Range& range, size_t count, const Give& give) {
  lot_.clear();
  lot_.reserve(count);
  TRACEDB_TRY(ForEachIn(range, [this](const SortEntry& entry) { lot_.push_back(entry); }));
  std::sort(lot_.begin(), lot_.end(), kBefore);
  return give(lot_);
}

// For any number of entries with one key: they come in order.
template <typename Gathered>
Status SortedItems<Gathered>::GiveAsTheyCome(const Range& range, const Give& give) {
  Status given = Done{};
  lot_.clear();
  TRACEDB_TRY(ForEachIn(range, [&](const SortEntry& entry) {
    lot_.push_back(entry);
    if (lot_.size() < entries_max_ || !given.ok()) return;
    given = give(lot_);
    lot_.clear();
  }));
  TRACEDB_TRY(given);
  return give(lot_);
}

// A group that is too large for one lot: by ranges of its keys, the denser ones split again. A
// range is a 256th of the one before, so that ends after eight times at most.
template <typename Gathered>
Status SortedItems<Gathered>::GiveSplit(uint32_t group, int64_t key_first, int64_t key_last,
                                        const Give& give) {
  // What is there, so that the split is of the range that is in use.
  int64_t least = kMost;
  int64_t most = kLeast;
  const Range range{group, group, key_first, key_last};
  TRACEDB_TRY(ForEachIn(range, [&](const SortEntry& entry) {
    least = std::min(least, entry.key);
    most = std::max(most, entry.key);
  }));
  if (least == most) return GiveAsTheyCome({group, group, least, least}, give);
  constexpr uint64_t kParts = 256;
  const uint64_t width = (static_cast<uint64_t>(most) - static_cast<uint64_t>(least)) / kParts + 1;
  const auto part_of = [&](int64_t key) {
    return (static_cast<uint64_t>(key) - static_cast<uint64_t>(least)) / width;
  };
  const auto first_of = [&](uint64_t part) {
    return static_cast<int64_t>(static_cast<uint64_t>(least) + part * width);
  };
  std::array<size_t, kParts> counts{};
  TRACEDB_TRY(ForEachIn(range, [&](const SortEntry& entry) { ++counts[part_of(entry.key)]; }));
  for (uint64_t first = 0; first < kParts;) {
    size_t count = 0;
    uint64_t next = first;
    while (next < kParts && count + counts[next] <= entries_max_) count += counts[next++];
    const bool dense = next == first;
    if (dense) ++next;
    const int64_t last_key = next == kParts ? most : first_of(next) - 1;
    if (dense) {
      TRACEDB_TRY(GiveSplit(group, first_of(first), last_key, give));
    } else if (count > 0) {
      TRACEDB_TRY(GiveSorted({group, group, first_of(first), last_key}, count, give));
    }
    first = next;
  }
  return Done{};
}

template class SortedItems<GpuActivities>;
template class SortedItems<LongSlices>;

}  // namespace tracedb
