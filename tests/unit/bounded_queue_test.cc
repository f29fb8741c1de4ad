// BoundedQueue: order, capacity, and that Close wakes whoever waits.

#include "tracedb/base/bounded_queue.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <thread>
#include <vector>

namespace tracedb {
namespace {

using std::chrono::milliseconds;

TEST(BoundedQueue, items_come_out_in_the_order_they_went_in) {
  BoundedQueue<int> queue(3);
  ASSERT_TRUE(queue.Push(1));
  ASSERT_TRUE(queue.Push(2));
  ASSERT_TRUE(queue.Push(3));
  EXPECT_EQ(queue.Pop(), 1);
  ASSERT_TRUE(queue.Push(4));
  EXPECT_EQ(queue.Pop(), 2);
  EXPECT_EQ(queue.Pop(), 3);
  EXPECT_EQ(queue.Pop(), 4);
}

TEST(BoundedQueue, items_that_can_only_be_moved_are_moved) {
  BoundedQueue<std::unique_ptr<int>> queue(1);
  ASSERT_TRUE(queue.Push(std::make_unique<int>(7)));
  EXPECT_EQ(**queue.Pop(), 7);
}

TEST(BoundedQueue, a_full_queue_makes_the_pusher_wait_for_room) {
  BoundedQueue<int> queue(2);
  std::atomic<int> pushed = 0;
  std::jthread pusher([&] {
    for (int i = 0; i < 4; ++i) {
      if (queue.Push(i)) ++pushed;
    }
  });
  for (int waited_ms = 0; pushed < 2 && waited_ms < 5000; ++waited_ms) {
    std::this_thread::sleep_for(milliseconds(1));
  }
  std::this_thread::sleep_for(milliseconds(20));
  EXPECT_EQ(pushed, 2);
  for (int i = 0; i < 4; ++i) EXPECT_EQ(queue.Pop(), i);
  pusher.join();
  EXPECT_EQ(pushed, 4);
}

TEST(BoundedQueue, what_was_pushed_before_close_can_still_be_popped) {
  BoundedQueue<int> queue(2);
  ASSERT_TRUE(queue.Push(1));
  queue.Close();
  queue.Close();
  EXPECT_FALSE(queue.Push(2));
  EXPECT_EQ(queue.Pop(), 1);
  EXPECT_EQ(queue.Pop(), std::nullopt);
}

TEST(BoundedQueue, close_wakes_all_who_wait_to_pop) {
  BoundedQueue<int> queue(1);
  std::atomic<int> woken = 0;
  {
    std::vector<std::jthread> waiting;
    for (int i = 0; i < 3; ++i) {
      waiting.emplace_back([&] {
        if (!queue.Pop().has_value()) ++woken;
      });
    }
    std::this_thread::sleep_for(milliseconds(10));
    queue.Close();
  }
  EXPECT_EQ(woken, 3);
}

TEST(BoundedQueue, close_wakes_all_who_wait_to_push) {
  BoundedQueue<int> queue(1);
  ASSERT_TRUE(queue.Push(0));
  std::atomic<int> refused = 0;
  {
    std::vector<std::jthread> waiting;
    for (int i = 0; i < 3; ++i) {
      waiting.emplace_back([&] {
        if (!queue.Push(1)) ++refused;
      });
    }
    std::this_thread::sleep_for(milliseconds(10));
    queue.Close();
  }
  EXPECT_EQ(refused, 3);
  EXPECT_EQ(queue.Pop(), 0);
}

TEST(BoundedQueue, several_pushers_and_poppers_lose_and_double_nothing) {
  constexpr int kEach = 5000;
  BoundedQueue<int> queue(4);
  std::vector<std::atomic<int>> seen(3 * kEach);
  {
    std::vector<std::jthread> poppers;
    for (int i = 0; i < 3; ++i) {
      poppers.emplace_back([&] {
        while (auto item = queue.Pop()) ++seen[static_cast<size_t>(*item)];
      });
    }
    {
      std::vector<std::jthread> pushers;
      for (int pusher = 0; pusher < 3; ++pusher) {
        pushers.emplace_back([&queue, pusher] {
          for (int i = 0; i < kEach; ++i) {
            if (!queue.Push(pusher * kEach + i)) return;
          }
        });
      }
    }
    queue.Close();
  }
  for (const auto& count : seen) ASSERT_EQ(count, 1);
}

}  // namespace
}  // namespace tracedb
