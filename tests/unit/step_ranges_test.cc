#include "replay/changes/step_ranges.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <vector>

namespace tracedb {
namespace {

struct Step {
  Interval range;
  int64_t step;
};

std::vector<int64_t> Around(const std::vector<Step>& steps, int64_t at_ns) {
  StepRanges ranges;
  for (const Step& step : steps) ranges.Add(step.range, step.step);
  ranges.Sort();
  std::vector<int64_t> found;
  ranges.ForEachAround(at_ns, [&](int64_t step) { found.push_back(step); });
  return found;
}

using Steps = std::vector<int64_t>;

TEST(StepRanges, first_and_last_moment) {
  const std::vector<Step> steps = {{{10, 20}, 1}, {{20, 30}, 2}, {{40, 40}, 3}};
  EXPECT_EQ(Around(steps, 9), Steps{});
  EXPECT_EQ(Around(steps, 10), Steps{1});
  EXPECT_EQ(Around(steps, 20), Steps{2});
  EXPECT_EQ(Around(steps, 30), Steps{});
  EXPECT_EQ(Around(steps, 40), Steps{});
  EXPECT_EQ(Around({}, 0), Steps{});
}

TEST(StepRanges, a_long_step_around_others) {
  const std::vector<Step> steps = {{{12, 14}, 2}, {{0, 100}, 1}, {{12, 20}, 3}};
  EXPECT_EQ(Around(steps, 13), (Steps{1, 2, 3}));
  EXPECT_EQ(Around(steps, 15), (Steps{1, 3}));
  EXPECT_EQ(Around(steps, 50), Steps{1});
}

TEST(StepRanges, as_one_looks_at_each) {
  std::mt19937 random(7);
  const auto below = [&](int64_t most) {
    return static_cast<int64_t>(random() % static_cast<uint64_t>(most));
  };
  for (int round = 0; round < 200; ++round) {
    std::vector<Step> steps;
    for (int64_t i = 0; i < 8; ++i) {
      const int64_t start_ns = below(30);
      steps.push_back({{start_ns, start_ns + below(12)}, i});
    }
    for (int64_t at_ns = 0; at_ns < 45; ++at_ns) {
      size_t count = 0;
      for (const Step& step : steps) {
        if (step.range.start_ns <= at_ns && at_ns < step.range.end_ns) ++count;
      }
      EXPECT_EQ(Around(steps, at_ns).size(), count);
    }
  }
}

}  // namespace
}  // namespace tracedb
