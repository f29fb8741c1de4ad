// FullQueues: which launches waited for room in their queue, at the borders of its rules.

#include "tracedb/schema/full_queues.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <map>
#include <vector>

namespace tracedb {
namespace {

constexpr int64_t kUs = 1'000;

// So many launches into stream 1, one a us, of which one finishes 5 us before the end of the last
// call: that launches from 10 ms on and takes 50 us.
struct Queue {
  std::vector<LaunchingCall> calls;

  explicit Queue(uint32_t pending) {
    calls.push_back({0, 0, 1 * kUs, 10'045 * kUs, 1, false});
    for (uint32_t i = 1; i <= pending; ++i) {
      calls.push_back({i, i * kUs, i * kUs + 500, 20'000 * kUs + i, 1, false});
    }
    calls.push_back({9'999, 10'000 * kUs, 10'050 * kUs, 30'000 * kUs, 1, false});
  }
  LaunchingCall& done() { return calls.front(); }
  LaunchingCall& last() { return calls.back(); }
  // What made room, by the slices that waited for it.
  std::map<int64_t, int64_t> Find() const {
    FullQueues queues;
    std::map<int64_t, int64_t> found;
    for (const LaunchingCall& call : calls) {
      const auto made_by = queues.Add(call);
      if (made_by.has_value()) found[call.slice_id] = *made_by;
    }
    return found;
  }
};

TEST(FullQueues, ALaunchThatOutlivesAFinishBehindManyOthers) {
  EXPECT_EQ(Queue(512).Find(), (std::map<int64_t, int64_t>{{9'999, 0}}));
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

TEST(FullQueues, TheLastFinishMadeRoom) {
  Queue queue(513);
  queue.calls[7].finish_ns = 10'049 * kUs;
  EXPECT_EQ(queue.Find(), (std::map<int64_t, int64_t>{{9'999, 7}}));
}

TEST(FullQueues, WhatStartsLaterMadeNoRoom) {
  Queue queue(512);
  queue.calls.push_back({10'000, 10'001 * kUs, 10'002 * kUs, 10'050 * kUs, 1, false});
  EXPECT_EQ(queue.Find(), (std::map<int64_t, int64_t>{{9'999, 0}}));
}

TEST(FullQueues, ManyMoreThanAnyGpuHolds) {
  EXPECT_EQ(Queue(9'900).Find().size(), 1u);
  Queue queue(17'000);
  queue.last().start_ns = 50'000 * kUs;
  EXPECT_TRUE(queue.Find().empty());
}

TEST(FullQueues, WhatIsDoneIsForgotten) {
  Queue queue(512);
  std::vector<LaunchingCall> calls;  // of other streams, and done soon
  for (int i = 0; i < 40'000; ++i) {
    calls.push_back({20'000 + i, -50'000 + i, -50'000 + i, -40'000 + i,
                     2 + static_cast<uint32_t>(i % 8), false});
  }
  queue.calls.insert(queue.calls.begin(), calls.begin(), calls.end());
  EXPECT_EQ(queue.Find().size(), 1u);
}

TEST(FullQueues, TimesAtTheEndsOfSixtyFourBits) {
  Queue queue(600);
  constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  queue.calls.insert(queue.calls.begin(), {30'000, kLeast, kMost, kMost, 1, false});
  queue.calls.push_back({30'001, kMost, kLeast, kLeast, 1, false});
  EXPECT_EQ(queue.Find().size(), 1u);
}

}  // namespace
}  // namespace tracedb
