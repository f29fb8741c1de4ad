// PackedRows keep every integer, in memory or spilled; SortedItems against std::sort.

#include "derive/sorted_items.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <limits>
#include <tuple>
#include <vector>

#include "random_json.h"

namespace tracedb {
namespace {

const std::filesystem::path kFolder = std::filesystem::temp_directory_path();
constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();
constexpr int64_t kMost = std::numeric_limits<int64_t>::max();

int64_t AnyInteger(test::Random& random) {
  switch (random.Below(6)) {
    case 0:
      return kLeast;
    case 1:
      return kMost;
    case 2:
      return random.Between(kLeast, kMost);
    default:
      return random.Between(-100, 100);
  }
}

using Three = std::array<int64_t, 3>;
using Two = std::array<int64_t, 2>;

TEST(PackedRows, every_integer_comes_back_in_order_from_memory_and_from_the_file) {
  for (const size_t bytes_max : {size_t{0}, size_t{1} << 17, size_t{1} << 30}) {
    test::Random random(8);
    PackedRows<Three> rows(kFolder, bytes_max);
    std::vector<Three> wanted;
    for (int i = 0; i < 50000; ++i) {
      wanted.push_back({AnyInteger(random), i, AnyInteger(random)});
      ASSERT_TRUE(rows.Add(wanted.back()).ok());
    }
    ASSERT_EQ(rows.rows(), wanted.size());
    for (int again = 0; again < 2; ++again) {
      size_t at = 0;
      const Status read = rows.ForEach([&](const Three& row) {
        ASSERT_LT(at, wanted.size());
        ASSERT_EQ(row, wanted[at++]);
      });
      ASSERT_TRUE(read.ok());
      ASSERT_EQ(at, wanted.size());
    }
  }
}

TEST(PackedRows, any_stretch_of_them_is_given_as_it_was_added) {
  for (const size_t bytes_max : {size_t{0}, size_t{1} << 20}) {
    PackedRows<Two> rows(kFolder, bytes_max);
    constexpr size_t kRows = 40000;  // some blocks, and one that is not full
    for (size_t i = 0; i < kRows; ++i) {
      ASSERT_TRUE(rows.Add({static_cast<int64_t>(i), static_cast<int64_t>(i * i)}).ok());
    }
    test::Random random(11);
    for (int time = 0; time < 300; ++time) {
      const auto first = static_cast<size_t>(random.Between(0, kRows + 10));
      const auto end = static_cast<size_t>(random.OneIn(4) ? random.Between(0, kRows + 10)
                                                           : random.Between(0, 20) +
                                                                 static_cast<int64_t>(first));
      size_t next = first;
      const Status read = rows.ForEach(first, end, [&next](const Two& row) {
        ASSERT_EQ(row[0], static_cast<int64_t>(next));
        ASSERT_EQ(row[1], static_cast<int64_t>(next * next));
        ++next;
      });
      ASSERT_TRUE(read.ok());
      EXPECT_EQ(next, std::max(first, std::min(end, kRows))) << first << " to " << end;
    }
  }
}

TEST(PackedRows, no_rows) {
  const PackedRows<Two> rows(kFolder, 0);
  EXPECT_TRUE(rows.ForEach([](const Two&) { FAIL(); }).ok());
}

TEST(PackedRows, a_folder_that_is_not_there_is_an_error_that_names_it) {
  PackedRows<int64_t> rows("/nowhere/at/all", 0);
  Status status = Done{};
  for (int64_t i = 0; i < 100000 && status.ok(); ++i) status = rows.Add(i * i * i * i);
  ASSERT_FALSE(status.ok());
  EXPECT_NE(status.error().what.find("/nowhere/at/all"), std::string::npos);
}

struct Mixture {
  size_t count;
  size_t groups;
  int64_t keys;  // how many different ones
};

class SortedItemsTest : public testing::TestWithParam<Mixture> {};

TEST_P(SortedItemsTest, the_order_is_that_of_sort_however_few_fit) {
  const Mixture mixture = GetParam();
  test::Random random(9);
  GpuActivities activities(kFolder, 0);
  std::vector<std::tuple<uint32_t, int64_t, int64_t>> wanted;
  for (size_t i = 0; i < mixture.count; ++i) {
    GpuActivity activity;
    activity.id = static_cast<int64_t>(i) + 1;
    activity.track = static_cast<int64_t>(random.Below(mixture.groups));
    // Most keys close together, some at the ends.
    activity.ts = random.Below(50) == 0 ? (random.Below(2) == 0 ? kLeast : kMost)
                                        : random.Between(0, mixture.keys - 1);
    activity.has_dur = random.Below(10) != 0;
    ASSERT_TRUE(activities.Add(activity).ok());
    if (!activity.has_dur) continue;
    wanted.emplace_back(static_cast<uint32_t>(activity.track), activity.ts, activity.id);
  }
  std::sort(wanted.begin(), wanted.end());
  for (const size_t bytes_max : {size_t{1}, size_t{1} << 10, size_t{1} << 16, size_t{1} << 22}) {
    SortedItems<GpuActivities> sorted(kFolder, bytes_max);
    const Status done = sorted.Sort(activities, [](const GpuActivity& activity, SortEntry& entry) {
      entry = {activity.ts, activity.id, static_cast<uint32_t>(activity.track)};
      return activity.has_dur;
    });
    ASSERT_TRUE(done.ok());
    std::vector<std::tuple<uint32_t, int64_t, int64_t>> got;
    const Status given = sorted.ForEach([&](std::span<const SortEntry> entries) -> Status {
      EXPECT_LE(entries.size(), SortedItems<GpuActivities>::kGivenMax);
      for (const SortEntry& entry : entries) {
        got.emplace_back(entry.group, entry.key, entry.value);
      }
      return Done{};
    });
    ASSERT_TRUE(given.ok());
    ASSERT_EQ(got, wanted) << bytes_max;
  }
}

INSTANTIATE_TEST_SUITE_P(Mixtures, SortedItemsTest,
                         testing::Values(Mixture{0, 1, 1}, Mixture{1, 1, 1}, Mixture{300, 1, 1},
                                         Mixture{300, 1, 1000000}, Mixture{500, 5, 40},
                                         Mixture{4000, 60, 1000}));

TEST(SortedItems, all_that_an_entry_holds_comes_back) {
  GpuActivities activities(kFolder, 0);
  for (int64_t i = 0; i < 3000; ++i) ASSERT_TRUE(activities.Add({.id = 3000 - i}).ok());
  const auto entry_of = [](int64_t id) {
    return SortEntry{id,
                     -id,
                     7,
                     static_cast<uint16_t>(65535 - id),
                     static_cast<GpuKind>(id % 4),
                     ~uint64_t{0} / static_cast<uint64_t>(id + 1)};
  };
  SortedItems<GpuActivities> sorted(kFolder, 1 << 12);
  const Status done = sorted.Sort(activities, [&](const GpuActivity& activity, SortEntry& entry) {
    entry = entry_of(activity.id);
    return true;
  });
  ASSERT_TRUE(done.ok());
  int64_t id = 0;
  const Status given = sorted.ForEach([&](std::span<const SortEntry> entries) -> Status {
    for (const SortEntry& entry : entries) {
      const SortEntry wanted = entry_of(++id);
      EXPECT_EQ(entry.key, wanted.key);
      EXPECT_EQ(entry.value, wanted.value);
      EXPECT_EQ(entry.group, wanted.group);
      EXPECT_EQ(entry.track_place, wanted.track_place);
      EXPECT_EQ(entry.kind, wanted.kind);
      EXPECT_EQ(entry.launch_facts, wanted.launch_facts);
    }
    return Done{};
  });
  ASSERT_TRUE(given.ok());
  EXPECT_EQ(id, 3000);
}

TEST(SortedItems, an_error_of_the_taker_ends_it) {
  GpuActivities activities(kFolder, 0);
  for (int64_t i = 0; i < 5000; ++i) ASSERT_TRUE(activities.Add({.id = i, .ts = 5}).ok());
  SortedItems<GpuActivities> sorted(kFolder, 1 << 12);
  const Status done = sorted.Sort(activities, [](const GpuActivity& activity, SortEntry& entry) {
    entry = {activity.ts, activity.id};
    return true;
  });
  ASSERT_TRUE(done.ok());
  int calls = 0;
  const Status given = sorted.ForEach([&](std::span<const SortEntry>) -> Status {
    ++calls;
    return Error{ErrorKind::kOutput, "no", ""};
  });
  EXPECT_FALSE(given.ok());
  EXPECT_EQ(calls, 1);
}

}  // namespace
}  // namespace tracedb
