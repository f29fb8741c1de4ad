// BusySweep and BusyUnion against a look at every single nanosecond.

#include "derive/busy/busy_sweep.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "random_json.h"

namespace tracedb {
namespace {

struct KindInterval {
  int64_t start_ns;
  int64_t end_ns;
  int kind;
};

std::string Shown(const std::vector<BusySegment>& segments) {
  std::string text;
  for (const BusySegment& segment : segments) {
    text += std::to_string(segment.start_ns) + "-" + std::to_string(segment.end_ns) + ":" +
            std::to_string(segment.kinds) + " ";
  }
  return text;
}

std::vector<BusySegment> Swept(const std::vector<KindInterval>& intervals) {
  BusySweep sweep;
  std::vector<BusySegment> done;
  for (const KindInterval& one : intervals) sweep.Add(one.start_ns, one.end_ns, one.kind, done);
  sweep.Finish(done);
  return done;
}

std::vector<BusySegment> Naive(const std::vector<KindInterval>& intervals, int64_t from,
                               int64_t to) {
  std::vector<BusySegment> segments;
  for (int64_t ns = from; ns < to; ++ns) {
    uint32_t kinds = 0;
    for (const KindInterval& one : intervals) {
      if (one.start_ns <= ns && ns < one.end_ns) kinds |= uint32_t{1} << one.kind;
    }
    if (kinds == 0) continue;
    if (!segments.empty() && segments.back().end_ns == ns && segments.back().kinds == kinds) {
      ++segments.back().end_ns;
    } else {
      segments.push_back({{ns, ns + 1}, kinds});
    }
  }
  return segments;
}

TEST(BusySweep, nothing_added_gives_nothing) { EXPECT_EQ(Shown(Swept({})), ""); }

TEST(BusySweep, intervals_that_touch_are_one_segment) {
  EXPECT_EQ(Shown(Swept({{0, 5, 0}, {5, 9, 0}})), "0-9:1 ");
}

TEST(BusySweep, overlap_of_two_kinds_is_cut_where_one_begins_and_one_ends) {
  EXPECT_EQ(Shown(Swept({{0, 10, 0}, {4, 12, 1}})), "0-4:1 4-10:3 10-12:2 ");
}

TEST(BusySweep, intervals_without_length_or_with_a_negative_one_add_nothing) {
  EXPECT_EQ(Shown(Swept({{0, 0, 0}, {3, 1, 1}, {5, 5, 2}})), "");
  EXPECT_EQ(Shown(Swept({{0, 8, 0}, {3, 3, 1}, {4, 2, 0}})), "0-8:1 ");
}

TEST(BusySweep, a_gap_is_not_reported) {
  EXPECT_EQ(Shown(Swept({{-5, -3, 2}, {7, 9, 2}})), "-5--3:4 7-9:4 ");
}

TEST(BusySweep, random_intervals_agree_with_every_nanosecond) {
  test::Random random(6);
  for (int round = 0; round < 20000; ++round) {
    std::vector<KindInterval> intervals;
    const int64_t range = random.Between(1, 60);
    for (size_t left = random.Below(14); left > 0; --left) {
      const int64_t start = random.Between(-range, range);
      const int64_t length = random.OneIn(6) ? random.Between(-5, 0) : random.Between(0, 20);
      intervals.push_back({start, start + length, static_cast<int>(random.Below(kBusyKinds))});
    }
    std::stable_sort(
        intervals.begin(), intervals.end(),
        [](const KindInterval& a, const KindInterval& b) { return a.start_ns < b.start_ns; });
    const auto naive = Naive(intervals, -range - 10, range + 30);
    ASSERT_EQ(Shown(Swept(intervals)), Shown(naive));
    BusyUnion all;
    for (const KindInterval& one : intervals) all.Add(one.start_ns, one.end_ns);
    int64_t busy_ns = 0;
    for (const BusySegment& segment : naive) busy_ns += segment.length();
    ASSERT_EQ(all.busy_ns(), busy_ns);
  }
}

}  // namespace
}  // namespace tracedb
