#include "replay/graph/edge_times.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <vector>

namespace tracedb {
namespace {

constexpr int64_t kLongest = std::numeric_limits<int64_t>::max();
constexpr int64_t kMostNarrow = std::numeric_limits<int32_t>::max();

std::vector<int64_t> All(const EdgeTimes& times) {
  std::vector<int64_t> all;
  for (size_t edge = 0; edge < times.size(); ++edge) all.push_back(times[edge]);
  return all;
}

TEST(EdgeTimes, around_what_four_bytes_hold) {
  const std::vector<int64_t> narrow = {0, -1, 1, kMostNarrow, -kMostNarrow, kNoEdge};
  EXPECT_EQ(All(EdgeTimes(narrow)), narrow);
  for (const int64_t ns : {kMostNarrow + 1, -kMostNarrow - 1, kLongest, -kLongest}) {
    std::vector<int64_t> wide = narrow;
    wide.push_back(ns);
    wide.push_back(kNoEdge);
    EXPECT_EQ(All(EdgeTimes(wide)), wide) << ns;
  }
}

TEST(EdgeTimes, set_in_any_block) {
  std::vector<int64_t> want(20'000);
  for (size_t i = 0; i < want.size(); ++i) want[i] = static_cast<int64_t>(i) - 7;
  EdgeTimes times(want);
  const EdgeTimes before = times;
  const auto set = [&](size_t edge, int64_t ns) {
    times.Set(edge, ns);
    want[edge] = ns;
  };
  set(5000, kLongest);
  set(5001, kNoEdge);
  set(5001, 3);
  set(4095, kNoEdge);
  set(4096, -1);
  set(19'999, -kMostNarrow - 1);
  set(19'998, kNoEdge);
  EXPECT_EQ(All(times), want);
  EXPECT_EQ(before[5000], 4993);
  times = before;
  EXPECT_EQ(All(times), All(before));
  times.Set(0, kNoEdge);
  EXPECT_EQ(times[0], kNoEdge);
}

}  // namespace
}  // namespace tracedb
