// LotTaker, ItemTaker and SlicesAhead: everything comes, in order and once, with a thread and
// without; errors reach whoever gives; each may be left at any time.

#include "derive/gathered/lot_taker.h"

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <new>
#include <optional>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include "derive/gathered/slices_ahead.h"

namespace tracedb {
namespace {

const std::filesystem::path kFolder = std::filesystem::temp_directory_path();

class LotTakerTest : public testing::TestWithParam<bool> {};

TEST_P(LotTakerTest, takes_all_lots_in_order) {
  std::vector<int> taken;
  std::optional<std::thread::id> taker;
  LotTaker<std::vector<int>> lots(GetParam(), [&](std::vector<int>& lot) -> Status {
    taken.insert(taken.end(), lot.begin(), lot.end());
    taker = std::this_thread::get_id();
    return Done{};
  });
  std::vector<int> wanted;
  for (int i = 0; i < 1000; ++i) {
    wanted.push_back(i);
    ASSERT_TRUE(lots.Give({i}).ok());
  }
  ASSERT_TRUE(lots.Finish().ok());
  EXPECT_EQ(taken, wanted);
  EXPECT_EQ(taker != std::this_thread::get_id(), GetParam());
}

TEST_P(LotTakerTest, an_error_ends_it_and_is_told) {
  int calls = 0;
  LotTaker<int> lots(GetParam(), [&calls](int& lot) -> Status {
    ++calls;
    return lot == 7 ? Status(Error{ErrorKind::kOutput, "no seven", ""}) : Status(Done{});
  });
  Status given = Done{};
  for (int i = 0; i < 1000 && given.ok(); ++i) given = lots.Give(i);
  ASSERT_FALSE(given.ok());
  EXPECT_EQ(given.error().what, "no seven");
  EXPECT_EQ(calls, 8);
}

TEST_P(LotTakerTest, an_error_of_the_last_lot_is_told_at_the_end) {
  LotTaker<int> lots(GetParam(), [](int&) -> Status { throw std::bad_alloc(); });
  if (!GetParam()) {
    EXPECT_THROW(static_cast<void>(lots.Give(1)), std::bad_alloc);  // its caller's to catch
    return;
  }
  const Status given = lots.Give(1);
  EXPECT_FALSE(given.ok() && lots.Finish().ok());
}

TEST_P(LotTakerTest, items_come_in_lots_and_none_is_left) {
  for (const int count : {0, 1, 2047, 2048, 2049, 50'000}) {
    std::vector<int> taken;
    ItemTaker<int> items(GetParam(), [&taken](std::span<const int> lot) -> Status {
      taken.insert(taken.end(), lot.begin(), lot.end());
      return Done{};
    });
    std::vector<int> wanted;
    for (int i = 0; i < count; ++i) {
      wanted.push_back(i);
      ASSERT_TRUE(items.Add(i).ok());
    }
    ASSERT_TRUE(items.Finish().ok());
    EXPECT_EQ(taken, wanted) << count;
  }
}

TEST_P(LotTakerTest, may_be_left_at_any_time) {
  for (const int count : {0, 1, 5000, 100'000}) {
    ItemTaker<int> items(GetParam(), [](std::span<const int>) { return Status(Done{}); });
    for (int i = 0; i < count; ++i) ASSERT_TRUE(items.Add(i).ok());
  }
}

INSTANTIATE_TEST_SUITE_P(Threads, LotTakerTest, testing::Bool());

// Fewer slices than a thread is begun for, and more.
class SlicesAheadTest : public testing::TestWithParam<int64_t> {
 protected:
  SlicesAheadTest() : slices_(kFolder, 1 << 20) {
    for (int64_t i = 0; i < GetParam(); ++i) {
      HostSlice slice;
      slice.id = i + 1;
      slice.ts = i / 2;
      slice.kind = i % 3 == 0   ? HostKind::kOperator
                   : i % 3 == 1 ? HostKind::kFunction
                                : HostKind::kCall;
      slice.has_external_id = i % 3 != 1 && i % 2 == 0;
      slice.external_id = slice.has_external_id ? -i : 0;
      EXPECT_TRUE(slices_.Add(slice).ok());
    }
    EXPECT_TRUE(slices_.Finish().ok());
  }

  HostSlices slices_;
};

TEST_P(SlicesAheadTest, all_slices_in_order) {
  SlicesAhead ahead(slices_, true);
  int64_t id = 0;
  while (auto lot = ahead.Next()) {
    for (const HostSlice& slice : *lot) {
      ASSERT_EQ(slice.id, ++id);
      EXPECT_EQ(slice.ts, (id - 1) / 2);
      EXPECT_EQ(slice.external_id, slice.has_external_id ? 1 - id : 0);
    }
    ahead.Return(std::move(*lot));
  }
  EXPECT_TRUE(ahead.status().ok());
  EXPECT_EQ(id, GetParam());
}

TEST_P(SlicesAheadTest, may_be_left_at_any_time) {
  for (const bool take_one : {false, true}) {
    SlicesAhead ahead(slices_, false);
    if (!take_one) continue;
    EXPECT_EQ(ahead.Next().has_value(), GetParam() > 0);
  }
}

// What an error leaves comes back to nobody; whoever reads on is told all the same.
TEST_P(SlicesAheadTest, an_error_of_the_second_stage_ends_it) {
  SlicesAhead ahead(slices_, true);
  LotTaker<SlicesAhead::Lot> taker(true, [](SlicesAhead::Lot&) -> Status {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));  // so that lots wait for it
    return Error{ErrorKind::kOutput, "no", ""};
  });
  Status given = Done{};
  while (given.ok()) {
    auto lot = ahead.Next();
    given = lot.has_value() ? taker.Give(std::move(*lot)) : taker.Finish();
    if (!lot.has_value()) break;
  }
  EXPECT_EQ(given.ok(), GetParam() == 0);
}

INSTANTIATE_TEST_SUITE_P(Counts, SlicesAheadTest, testing::Values(0, 5, 8192, 8193, 60'000));

}  // namespace
}  // namespace tracedb
