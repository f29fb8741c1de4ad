// FindFullQueues: which launches waited for room in their queue, at the borders of its rules.

#include "tracedb/schema/full_queues.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <vector>

namespace tracedb {
namespace {

constexpr int64_t kUs = 1'000;

// So many launches into stream 1, one a us, of which one finishes 5 us before the end of the last
// call: that launches from 10 ms on and takes 50 us.
struct Queue {
  std::vector<LaunchingCall> calls;

  explicit Queue(uint32_t pending) {
    const LaunchingCall done{0, 1 * kUs, 10'045 * kUs, 1, false};
    calls.push_back(done);
    for (uint32_t i = 1; i <= pending; ++i) {
      calls.push_back({i * kUs, i * kUs + 500, 20'000 * kUs + i, 1, false});
    }
    calls.push_back({10'000 * kUs, 10'050 * kUs, 30'000 * kUs, 1, false});
  }
  LaunchingCall& done() { return calls.front(); }
  LaunchingCall& last() { return calls.back(); }
  std::vector<FullQueue> Find() const { return FindFullQueues(calls); }
};

TEST(FullQueues, ALaunchThatOutlivesAFinishBehindManyOthers) {
  const std::vector<FullQueue> found = Queue(512).Find();
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].call, 513u);
  EXPECT_EQ(found[0].made_by, 0u);
}

TEST(FullQueues, FewerArePending) { EXPECT_TRUE(Queue(511).Find().empty()); }

TEST(FullQueues, TheCallIsShort) {
  Queue queue(512);
  queue.last().start_ns += 1;
  EXPECT_TRUE(queue.Find().empty());
}

TEST(FullQueues, TheCallWaitsByItsName) {
  Queue queue(512);
  queue.last().is_wait = true;
  EXPECT_TRUE(queue.Find().empty());
}

TEST(FullQueues, NothingFinishesSoonBeforeItsEnd) {
  Queue queue(512);
  queue.done().finish_ns = 10'030 * kUs;
  EXPECT_EQ(queue.Find().size(), 1u);
  queue.done().finish_ns = 10'030 * kUs - 1;
  EXPECT_TRUE(queue.Find().empty());
}

TEST(FullQueues, NothingFinishesDuringIt) {
  Queue queue(512);
  queue.last().start_ns = 9'000 * kUs;
  EXPECT_EQ(queue.Find().size(), 1u);
  queue.done().finish_ns = 9'000 * kUs - 1;
  EXPECT_TRUE(queue.Find().empty());
}

TEST(FullQueues, WhatFinishesIsOnAnotherStream) {
  Queue queue(512);
  queue.done().stream = 2;
  EXPECT_TRUE(queue.Find().empty());
}

TEST(FullQueues, TheLastFinishOfThoseLaunchedBeforeMadeRoom) {
  Queue queue(513);
  queue.calls[7].finish_ns = 10'049 * kUs;
  queue.calls.push_back({10'001 * kUs, 10'002 * kUs, 10'050 * kUs, 1, false});  // another thread's
  queue.calls.push_back({600 * kUs, 601 * kUs, 40'000 * kUs, 1, false});
  const std::vector<FullQueue> found = queue.Find();
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].made_by, 7u);
}

TEST(FullQueues, TimesAtTheEndsOfSixtyFourBits) {
  Queue queue(600);
  constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  queue.calls.push_back({kLeast, kMost, kMost, 1, false});
  queue.calls.push_back({kMost, kLeast, kLeast, 1, false});
  EXPECT_EQ(queue.Find().size(), 1u);
}

TEST(FullQueues, NoCalls) { EXPECT_TRUE(FindFullQueues({}).empty()); }

}  // namespace
}  // namespace tracedb
