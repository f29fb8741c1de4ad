// StreamUse and DeviceUse against a look at every single nanosecond.

#include "derive/busy/busy_use.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "random_json.h"

namespace tracedb {
namespace {

std::vector<BusyInterval> RandomIntervals(test::Random& random) {
  std::vector<BusyInterval> intervals;
  for (size_t left = 1 + random.Below(15); left > 0; --left) {
    const int64_t start = random.Between(-30, 30);
    const int64_t length = random.OneIn(6) ? random.Between(-4, 0) : random.Between(0, 15);
    intervals.push_back({{start, start + length}, static_cast<GpuKind>(random.Below(kBusyKinds))});
  }
  std::stable_sort(intervals.begin(), intervals.end(),
                   [](const auto& a, const auto& b) { return a.start_ns < b.start_ns; });
  return intervals;
}

// How many nanoseconds have a set of kinds that `wanted` accepts.
template <typename Wanted>
int64_t Nanoseconds(const std::vector<BusyInterval>& intervals, Wanted wanted) {
  int64_t count = 0;
  for (int64_t ns = -60; ns < 90; ++ns) {
    unsigned kinds = 0;
    for (const BusyInterval& one : intervals) {
      if (one.start_ns <= ns && ns < one.end_ns) kinds |= 1u << static_cast<int>(one.kind);
    }
    count += wanted(kinds) ? 1 : 0;
  }
  return count;
}

TEST(DeviceUse, random_activities_agree_with_every_nanosecond) {
  test::Random random(26);
  for (int round = 0; round < 5000; ++round) {
    const auto intervals = RandomIntervals(random);
    DeviceUse use;
    std::vector<BusySegment> segments;
    for (const BusyInterval& one : intervals) use.Add(one, segments);
    use.Finish(segments);
    ASSERT_EQ(use.compute_ns, Nanoseconds(intervals, [](unsigned k) { return (k & 1) != 0; }));
    ASSERT_EQ(use.communication_ns,
              Nanoseconds(intervals, [](unsigned k) { return (k & 2) != 0; }));
    ASSERT_EQ(use.overlap_ns, Nanoseconds(intervals, [](unsigned k) { return (k & 3) == 3; }));
    ASSERT_EQ(use.exposed_communication_ns,
              Nanoseconds(intervals, [](unsigned k) { return (k & 3) == 2; }));
    ASSERT_EQ(use.exposed_memory_ns, Nanoseconds(intervals, [](unsigned k) { return k == 4; }));
    int64_t start = intervals[0].start_ns;
    int64_t end = intervals[0].end_ns;
    for (const BusyInterval& one : intervals) {
      start = std::min(start, one.start_ns);
      end = std::max(end, one.end_ns);
    }
    ASSERT_EQ(use.span().start_ns, start);
    ASSERT_EQ(use.span().end_ns, end);
    const int64_t busy = Nanoseconds(intervals, [](unsigned k) { return k != 0; });
    ASSERT_EQ(use.idle_ns(), end - start - busy);
  }
}

TEST(StreamUse, random_activities_agree_with_every_nanosecond) {
  test::Random random(27);
  for (int round = 0; round < 5000; ++round) {
    const auto intervals = RandomIntervals(random);
    StreamUse use;
    for (const BusyInterval& one : intervals) use.Add(one);
    ASSERT_EQ(use.activities(), static_cast<int64_t>(intervals.size()));
    ASSERT_EQ(use.busy_ns(), Nanoseconds(intervals, [](unsigned k) { return k != 0; }));
    for (size_t kind = 0; kind < kBusyKinds; ++kind) {
      ASSERT_EQ(use.kind_ns(kind),
                Nanoseconds(intervals, [&](unsigned k) { return (k >> kind & 1) != 0; }));
    }
  }
}

TEST(DeviceUse, a_device_without_activities_has_none) {
  DeviceUse use;
  std::vector<BusySegment> segments;
  use.Finish(segments);
  EXPECT_FALSE(use.any());
  EXPECT_TRUE(segments.empty());
  EXPECT_EQ(use.idle_ns(), 0);
}

}  // namespace
}  // namespace tracedb
