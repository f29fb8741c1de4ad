#include "cut/cut_budget.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

namespace tracedb {
namespace {

size_t Index(EventTable table) { return static_cast<size_t>(table); }

}  // namespace

size_t CutBudget::BucketOf(const CutRow& row) {
  const auto dur = static_cast<uint64_t>(std::max<int64_t>(row.dur.value_or(0), 0));
  const int bits = static_cast<int>(std::bit_width(dur));
  if (bits <= kStepBits) return dur;
  const int shift = bits - 1 - kStepBits;
  const uint64_t steps = (dur >> shift) - (uint64_t{1} << kStepBits);
  return (static_cast<size_t>(shift + 1) << kStepBits) + steps;
}

void CutBudget::Count(const CutRow& row, int events) {
  if (IsSliceTable(row.table)) buckets_[BucketOf(row)] += events;
  counted_[Index(row.table)] += events;
}

void CutBudget::Decide(int64_t events_max) {
  int64_t room = events_max;
  size_t bucket = buckets_.size();
  while (bucket > 0 && buckets_[bucket - 1] <= room) room -= buckets_[--bucket];
  if (bucket > 0) {
    shortest_ = bucket - 1;
    room_shortest_ = room;
    with_flows_ = counted_[Index(EventTable::kFlow)] == 0;
    return;
  }
  room_shortest_ = events_max;  // there is room for all
  const int64_t points =
      counted_[Index(EventTable::kCounterEvent)] + counted_[Index(EventTable::kInstant)];
  room_points_ = std::min(points, room);
  with_flows_ = counted_[Index(EventTable::kFlow)] <= room - room_points_;
}

bool CutBudget::TakesSlice(const CutRow& row, int events) {
  const size_t bucket = BucketOf(row);
  if (bucket != shortest_) return bucket > shortest_;
  if (room_shortest_ < events) {
    room_shortest_ = 0;
    return false;
  }
  room_shortest_ -= events;
  return true;
}

bool CutBudget::Takes(const CutRow& row, int events) {
  bool takes = true;
  if (IsSliceTable(row.table)) {
    takes = TakesSlice(row, events);
    if (!takes) longest_left_out_ns_ = std::max(longest_left_out_ns_, row.dur.value_or(0));
  } else if (row.table == EventTable::kFlow) {
    takes = with_flows_;
  } else if (row.table != EventTable::kMetadataEvent) {
    takes = room_points_ > 0;
    room_points_ -= takes ? 1 : 0;
  }
  if (!takes) left_out_[Index(row.table)] += events;
  return takes;
}

std::string CutBudget::LeftOut() const {
  int64_t slices = 0;
  for (size_t table = 0; table <= Index(EventTable::kGpuSlice); ++table) slices += left_out_[table];
  std::string text;
  const auto add = [&text](int64_t count, std::string_view what) {
    if (count == 0) return false;
    text += fmt::format("{}{} {}{}", text.empty() ? "" : ", ", count, what, count == 1 ? "" : "s");
    return true;
  };
  if (add(slices, "slice")) {
    text += fmt::format(" of up to {:.3f} us", static_cast<double>(longest_left_out_ns_) / 1e3);
  }
  add(left_out_[Index(EventTable::kInstant)], "instant");
  add(left_out_[Index(EventTable::kCounterEvent)], "counter event");
  add(left_out_[Index(EventTable::kFlow)], "flow event");
  return text;
}

}  // namespace tracedb
