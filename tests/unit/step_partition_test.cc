// StepPartition with so many steps that stretches are given before the end. What it works out is
// checked by tests/oracle and tests/query.

#include "derive/step_partition.h"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

namespace tracedb {
namespace {

constexpr int64_t kLength = 10;

PartitionActivity Activity(int64_t start_ns, int64_t length_ns, int64_t step) {
  PartitionActivity activity;
  activity.start_ns = start_ns;
  activity.end_ns = start_ns + length_ns;
  activity.step = step;
  activity.step_place = static_cast<size_t>(step);
  return activity;
}

int64_t Accounted(const StepUse& use) {
  return std::accumulate(use.idle_ns.begin(), use.idle_ns.end(), use.compute_ns);
}

TEST(StepPartition, stretches_are_given_as_they_are_complete) {
  SyncCalls syncs(16, 16);
  constexpr int64_t kSteps = 5000;
  StepPartition partition(syncs, 0, kSteps);
  std::vector<StepUse> done;
  size_t held_max = 0;
  for (int64_t step = 0; step < kSteps; ++step) {
    partition.Add(Activity(step * 2 * kLength, kLength, step), done);
    held_max = std::max(held_max, static_cast<size_t>(step) + 1 - done.size());
  }
  EXPECT_LT(held_max, 8u);
  partition.Finish(done);
  ASSERT_EQ(done.size(), static_cast<size_t>(kSteps));
  for (int64_t step = 0; step < kSteps; ++step) {
    const StepUse& use = done[static_cast<size_t>(step)];
    EXPECT_EQ(use.step, step);
    EXPECT_EQ(use.start_ns, step * 2 * kLength);
    EXPECT_EQ(use.compute_ns, kLength);
    EXPECT_EQ(Accounted(use), use.length());
  }
}

// Activities without length begin steps, and end no gap.
TEST(StepPartition, a_gap_through_very_many_steps_is_accounted_for) {
  SyncCalls syncs(16, 16);
  constexpr int64_t kSteps = 5000;
  StepPartition partition(syncs, 0, kSteps + 1);
  std::vector<StepUse> done;
  partition.Add(Activity(0, 1, 0), done);
  for (int64_t step = 1; step < kSteps; ++step) {
    partition.Add(Activity(step * kLength, 0, step), done);
    ASSERT_LT(static_cast<size_t>(step) - done.size(), 2000u);
  }
  PartitionActivity last = Activity(kSteps * kLength, 1, kSteps);
  last.launch_ns = 0;
  partition.Add(last, done);
  partition.Finish(done);
  ASSERT_EQ(done.size(), static_cast<size_t>(kSteps) + 1);
  int64_t unknown = 0;
  int64_t dependency = 0;
  for (const StepUse& use : done) {
    EXPECT_EQ(Accounted(use), use.length());
    unknown += use.idle_ns[static_cast<size_t>(IdleCause::kUnknown)];
    dependency += use.idle_ns[static_cast<size_t>(IdleCause::kDependency)];
  }
  EXPECT_GT(dependency, 500 * kLength);  // the last ones are known
  EXPECT_EQ(unknown + dependency, kSteps * kLength - 1);
}

TEST(StepPartition, steps_beyond_the_room_have_no_stretch) {
  SyncCalls syncs(16, 16);
  StepPartition partition(syncs, 0, 2);
  std::vector<StepUse> done;
  for (int64_t step = 0; step < 10; ++step) {
    partition.Add(Activity(step * kLength, kLength, step), done);
  }
  partition.Finish(done);
  ASSERT_EQ(done.size(), 2u);
  EXPECT_EQ(done[1].compute_ns, 9 * kLength);
}

}  // namespace
}  // namespace tracedb
