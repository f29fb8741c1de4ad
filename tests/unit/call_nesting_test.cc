// The parts of CallNesting and StepPartition that bounds and packing are about; what they work out
// is compared with traces by tests/oracle.

#include "derive/call_nesting.h"

#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "derive/call_paths.h"
#include "derive/derive_launches.h"
#include "derive/host_use.h"
#include "derive/sync_calls.h"

namespace tracedb {
namespace {

TEST(CallPaths, one_node_for_one_place) {
  CallPaths paths(10);
  const PathId outer = paths.Child(0, HostKind::kFunction, 1, 0);
  const PathId op = paths.Child(outer, HostKind::kOperator, 2, 5);
  EXPECT_EQ(paths.Child(outer, HostKind::kOperator, 2, 5), op);
  EXPECT_NE(paths.Child(outer, HostKind::kOperator, 2, 6), op);  // other args
  EXPECT_NE(paths.Child(0, HostKind::kOperator, 2, 5), op);
  const PathId within = paths.Child(op, HostKind::kModule, 3, 0);
  EXPECT_EQ(paths.node(within).op, op);
  EXPECT_EQ(paths.node(outer).op, 0u);
  EXPECT_FALSE(paths.node(within).recursive);
  EXPECT_TRUE(paths.node(paths.Child(within, HostKind::kFunction, 1, 0)).recursive);
}

TEST(CallPaths, without_room_a_call_belongs_to_what_is_around_it) {
  CallPaths paths(2);
  const PathId outer = paths.Child(0, HostKind::kFunction, 1, 0);
  const PathId inner = paths.Child(outer, HostKind::kFunction, 2, 0);
  EXPECT_EQ(paths.Child(inner, HostKind::kFunction, 3, 0), inner);
  EXPECT_EQ(paths.Child(0, HostKind::kFunction, 3, 0), 0u);
  EXPECT_EQ(paths.Child(outer, HostKind::kFunction, 2, 0), inner);
  EXPECT_EQ(paths.count(), 2u);
}

TEST(CallPaths, the_table_grows_and_finds_what_was_there) {
  constexpr PathId kNodes = 20'000;
  CallPaths paths(kNodes);
  for (int round = 0; round < 2; ++round) {
    for (PathId at = 1; at <= kNodes; ++at) {
      ASSERT_EQ(paths.Child(at / 8, HostKind::kOperator, at % 100, at), at) << "round " << round;
    }
  }
  EXPECT_EQ(paths.count(), kNodes);
  EXPECT_EQ(paths.Child(5, HostKind::kOperator, 1, 1), 5u);  // there is no room
}

TEST(RecentPaths, keeps_the_last_ones_of_each_thread) {
  RecentPaths recent(1024);
  for (int64_t number = 0; number < 100'000; ++number) {
    recent.Put(1, number, {static_cast<PathId>(number + 1), 0});
    recent.Put(2, number, {static_cast<PathId>(number + 2), 0});
  }
  size_t kept = 0;
  for (int64_t number = 99'800; number < 100'000; ++number) {
    for (const int64_t thread : {1, 2}) {
      const LaunchPath* path = recent.Find(thread, number);
      if (path == nullptr) continue;
      ++kept;
      EXPECT_EQ(path->path, static_cast<PathId>(number + thread));
    }
  }
  EXPECT_EQ(kept, 400u);
  EXPECT_EQ(recent.Find(1, 5), nullptr);
  EXPECT_EQ(recent.Find(3, 99'999), nullptr);
}

TEST(RecentPaths, grows_before_anything_is_lost) {
  RecentPaths recent(1 << 14);
  constexpr int64_t kNumbers = 4096;
  for (int64_t number = 0; number < kNumbers; ++number) {
    recent.Put(1, number, {static_cast<PathId>(number), 7});
    recent.Put(2, number, {0, static_cast<PathId>(number)});
    recent.Put(1, number, {static_cast<PathId>(number + 1), 7});
  }
  for (int64_t number = 0; number < kNumbers; ++number) {
    const LaunchPath* const one = recent.Find(1, number);
    const LaunchPath* const other = recent.Find(2, number);
    ASSERT_TRUE(one != nullptr && other != nullptr) << number;
    EXPECT_EQ(one->path, static_cast<PathId>(number + 1));
    EXPECT_EQ(other->forward, static_cast<PathId>(number));
  }
}

TEST(SumTable, keys_beyond_the_bound_share_a_row) {
  KernelUse uses(3);
  for (int64_t kernel = 1; kernel <= 10; ++kernel) {
    for (int times = 0; times < 2; ++times) ++uses[uses.Find({1, 0, 0, kernel})].activities;
  }
  const auto rows = uses.Sorted();
  ASSERT_EQ(rows.size(), 4u);
  EXPECT_EQ(rows[0]->key.kernel, 0);
  EXPECT_EQ(rows[0]->sums.activities, 14);
  EXPECT_EQ(rows[3]->key.kernel, 3);
  EXPECT_EQ(rows[3]->sums.activities, 2);
}

// {start, end, begun, use} of each.
std::vector<std::array<int64_t, 4>> CallsIn(const SyncCalls& calls, uint32_t thread,
                                            const Interval& time) {
  std::vector<std::array<int64_t, 4>> found;
  for (const SyncCalls::Call& call : calls.In(thread, time)) {
    found.push_back({call.start_ns, call.end_ns, call.begun_ns, call.use});
  }
  return found;
}

TEST(SyncCalls, the_first_to_begin_has_the_time) {
  using Found = std::vector<std::array<int64_t, 4>>;
  SyncCalls calls(10, 10);
  calls.Add(1, {0, 100}, {std::nullopt, 7, 0});
  calls.Add(1, {10, 20}, {std::nullopt, 8, 0});   // within the first
  calls.Add(1, {90, 130}, {std::nullopt, 9, 0});  // overlaps it
  calls.Add(1, {130, 130}, {std::nullopt, 9, 0});
  calls.Add(1, {200, 210}, {std::nullopt, 9, 0});
  const Found first = {{0, 100, 0, 0}};
  const Found both = {{0, 100, 0, 0}, {100, 130, 90, 2}};
  EXPECT_EQ(CallsIn(calls, 1, {15, 18}), first);
  EXPECT_EQ(CallsIn(calls, 1, {15, 100}), first);  // an end is not in it
  EXPECT_EQ(CallsIn(calls, 1, {99, 101}), both);
  EXPECT_EQ(CallsIn(calls, 1, {130, 200}), Found());
  EXPECT_EQ(CallsIn(calls, 2, {15, 500}), Found());
  EXPECT_EQ(CallsIn(calls, 0, {15, 500}), Found());
}

TEST(SyncCalls, beyond_the_bound_they_are_counted) {
  SyncCalls calls(1, 10);
  calls.Add(1, {0, 10}, {std::nullopt, 7, 0});
  calls.Add(1, {20, 30}, {std::nullopt, 7, 0});
  EXPECT_EQ(calls.In(1, {5, 50}).size(), 1u);
  EXPECT_TRUE(calls.In(1, {25, 50}).empty());
  EXPECT_EQ(calls.uses()[0].calls, 2);
  EXPECT_EQ(calls.uses()[0].total_ns, 20);
}

TEST(LaunchFacts, come_back_as_they_were) {
  for (const int64_t delay : {int64_t{0}, int64_t{-1}, int64_t{12'345'678}, int64_t{1} << 45}) {
    for (const uint32_t thread : {0u, 1u, 4096u}) {
      for (const Parallelism parallelism : {Parallelism::kPipeline, Parallelism::kOther}) {
        const LaunchFacts facts =
            LaunchFacts::Unpacked(LaunchFacts{delay, thread, parallelism}.Packed());
        EXPECT_EQ(facts.delay_ns, delay);
        EXPECT_EQ(facts.thread, thread);
        EXPECT_EQ(facts.parallelism, parallelism);
      }
    }
  }
  EXPECT_FALSE(LaunchFacts::Unpacked(LaunchFacts{}.Packed()).delay_ns.has_value());
  const LaunchFacts far{std::numeric_limits<int64_t>::max(), 1, Parallelism::kData};
  EXPECT_GT(LaunchFacts::Unpacked(far.Packed()).delay_ns, int64_t{19} * 3600 * 1'000'000'000);
}

}  // namespace
}  // namespace tracedb
