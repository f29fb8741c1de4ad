#include "derive/gathered/sorted_items.h"

#include <utility>
#include <vector>

namespace tracedb {
namespace {

constexpr int kKindBits = 8;

}  // namespace

SortedEntries::Row::Row(const SortEntry& entry)
    : group(entry.group),
      key(entry.key),
      value(entry.value),
      stream_and_kind(int64_t{entry.stream} << kKindBits | static_cast<int64_t>(entry.kind)),
      launch_facts(static_cast<int64_t>(entry.launch_facts)) {}

SortEntry SortedEntries::Row::Entry() const {
  return {key,
          value,
          static_cast<uint32_t>(group),
          static_cast<uint16_t>(stream_and_kind >> kKindBits),
          static_cast<GpuKind>(stream_and_kind & ((1 << kKindBits) - 1)),
          static_cast<uint64_t>(launch_facts)};
}

SortedEntries::SortedEntries(std::filesystem::path folder, size_t bytes_max)
    : runs_(SortBudget(bytes_max).Space(std::move(folder)), SortBudget(bytes_max).Limits<Row>()) {}

template <typename Gathered>
Status SortedItems<Gathered>::Sort(const Gathered& items, const Describe& describe) {
  Status added = Done{};
  TRACEDB_TRY(items.ForEach([&](const Item& item) {
    SortEntry entry;
    if (added.ok() && describe(item, entry)) added = this->Add(entry);
  }));
  TRACEDB_TRY(added);
  return this->Finish();
}

Status SortedEntries::ForEach(const Give& give) const {
  std::vector<SortEntry> given;
  given.reserve(kGivenMax);
  SortedRuns<Row, Before>::Reader reader(runs_);
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
