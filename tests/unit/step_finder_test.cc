// StepFinder against a look at every step.

#include "derive/step_finder.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "random_json.h"

namespace tracedb {
namespace {

struct Step {
  int64_t ts;
  int64_t dur;
  int64_t step;
};

StepFinder FinderOf(const std::vector<Step>& steps, int64_t base_ns, size_t bytes_max = 1 << 20) {
  auto db = SqliteDb::OpenInMemory();
  EXPECT_TRUE(db.value().Execute("CREATE TABLE _step(ts INTEGER, dur INTEGER, step INTEGER)").ok());
  for (const Step& one : steps) {
    const Status added =
        db.value().Execute("INSERT INTO _step VALUES (" + std::to_string(one.ts) + ", " +
                           std::to_string(one.dur) + ", " + std::to_string(one.step) + ")");
    EXPECT_TRUE(added.ok());
  }
  auto finder = StepFinder::Read(db.value(), base_ns, "/tmp", bytes_max);
  EXPECT_TRUE(finder.ok());
  return std::move(finder).value();
}

TEST(StepFinder, a_step_holds_its_start_and_not_its_end) {
  StepFinder finder = FinderOf({{10, 5, 1}, {15, 5, 2}}, 100);
  EXPECT_EQ(finder.At(109), std::nullopt);
  EXPECT_EQ(finder.At(110), 1);
  EXPECT_EQ(finder.At(114), 1);
  EXPECT_EQ(finder.At(115), 2);
  EXPECT_EQ(finder.At(120), std::nullopt);
}

TEST(StepFinder, without_steps_there_is_none) { EXPECT_EQ(FinderOf({}, 0).At(0), std::nullopt); }

// Several blocks of them, none of which stays in memory.
TEST(StepFinder, steps_beyond_memory_are_found_in_any_order) {
  constexpr int64_t kSteps = 3000;
  std::vector<Step> steps;
  for (int64_t i = 0; i < kSteps; ++i) steps.push_back({i * 10, 5, i * i});
  StepFinder finder = FinderOf(steps, 0, 0);
  EXPECT_EQ(finder.numbers(), static_cast<size_t>(kSteps));
  for (int64_t i = 0; i < kSteps; ++i) {
    const int64_t step = i * 1009 % kSteps;
    const auto found = finder.Find(step * 10 + 4);
    ASSERT_TRUE(found.has_value());
    EXPECT_EQ(found->step, step * step);
    EXPECT_EQ(found->place, static_cast<size_t>(step));
    EXPECT_EQ(finder.Find(step * 10 + 5).has_value(), false);
  }
  EXPECT_TRUE(finder.status().ok());
}

TEST(StepFinder, deep_within_each_other_the_outermost_are_forgotten) {
  constexpr int64_t kSteps = static_cast<int64_t>(StepFinder::kOpenMax) + 10;
  std::vector<Step> steps;
  for (int64_t i = 0; i < kSteps; ++i) steps.push_back({i, 2 * (kSteps - i), i});
  StepFinder finder = FinderOf(steps, 0);
  EXPECT_EQ(finder.At(kSteps), kSteps - 1);
  EXPECT_EQ(finder.At(kSteps + 3), kSteps - 3 - 1);
  EXPECT_EQ(finder.At(2 * kSteps - 1), std::nullopt);
}

TEST(StepFinder, random_steps_agree_with_a_look_at_each) {
  test::Random random(29);
  for (int round = 0; round < 100; ++round) {
    std::vector<Step> steps;
    std::vector<bool> used(80, false);
    for (size_t left = random.Below(10); left > 0; --left) {
      const int64_t ts = random.Between(0, 79);
      if (used[static_cast<size_t>(ts)]) continue;
      used[static_cast<size_t>(ts)] = true;
      steps.push_back({ts, random.Between(-2, 40), static_cast<int64_t>(left)});
    }
    StepFinder finder = FinderOf(steps, 1000);
    for (int64_t ts = -5; ts < 130; ++ts) {
      const Step* latest = nullptr;
      for (const Step& one : steps) {
        if (one.dur <= 0 || ts < one.ts || ts >= one.ts + one.dur) continue;
        if (latest == nullptr || one.ts > latest->ts) latest = &one;
      }
      const auto wanted = latest == nullptr ? std::nullopt : std::optional(latest->step);
      ASSERT_EQ(finder.At(ts + 1000), wanted);
    }
  }
}

}  // namespace
}  // namespace tracedb
