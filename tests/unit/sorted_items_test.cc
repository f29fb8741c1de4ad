// PackedRows keep every integer, in memory or spilled; SortedItems against std::sort.

#include "derive/gathered/sorted_items.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <limits>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "derive/gathered/sort_ahead.h"
#include "derive/gathered/sort_beside.h"
#include "random_json.h"
#include "tracedb/memory/sorted_runs.h"

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
      EXPECT_EQ(entry.stream, wanted.stream);
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

// Of few texts each once, of more than are kept all: what there is of each is the same.
TEST(GpuActivities, args_of_communication_kernels) {
  for (const int64_t texts : {0, 1, 3, 1024, 1025, 3000}) {
    GpuActivities activities(kFolder, 0);
    std::set<std::pair<int64_t, bool>> wanted;
    for (int64_t i = 0; i < 6 * texts; ++i) {
      GpuActivity activity;
      activity.id = i + 1;
      activity.args_text = i % texts + 1;
      activity.has_external_id = i % 5 == 0;
      activity.kind = i % 7 == 0 ? GpuKind::kCompute : GpuKind::kCommunication;
      ASSERT_TRUE(activities.Add(activity).ok());
      if (i % 7 != 0) wanted.emplace(activity.args_text, activity.has_external_id);
    }
    std::set<std::pair<int64_t, bool>> got;
    size_t calls = 0;
    const Status status = activities.ForEachCommunicationArgs([&](int64_t text, bool has_id) {
      got.emplace(text, has_id);
      ++calls;
    });
    ASSERT_TRUE(status.ok());
    EXPECT_EQ(got, wanted) << texts;
    EXPECT_EQ(calls, texts <= 1024 ? wanted.size() : activities.communication_count()) << texts;
  }
}

// Fewer than a thread is begun for, and more.
class SortAheadTest : public testing::TestWithParam<int64_t> {
 protected:
  SortAheadTest() : activities_(kFolder, 0) {
    for (int64_t id = 1; id <= GetParam(); ++id) {
      EXPECT_TRUE(activities_.Add({.id = id, .ts = -id}).ok());
    }
  }

  using Order = SortAhead<GpuActivities>::Order;
  static Order ById() {
    return [](const GpuActivity& activity, SortEntry& entry) {
      entry = {activity.id, activity.id};
      return true;
    };
  }
  static Order ByTime() {
    return [](const GpuActivity& activity, SortEntry& entry) {
      entry = {activity.ts, activity.id};
      return true;
    };
  }

  GpuActivities activities_;
};

TEST_P(SortAheadTest, gives_one_order_after_the_other) {
  SortAhead<GpuActivities> sorted(activities_, {kFolder, 1 << 14}, {ById(), ByTime()});
  for (const bool falling : {false, true}) {
    int64_t count = 0;
    const Status given = sorted.Next([&](std::span<const SortEntry> entries) -> Status {
      for (const SortEntry& entry : entries) {
        ++count;
        EXPECT_EQ(entry.value, falling ? GetParam() + 1 - count : count);
      }
      return Done{};
    });
    ASSERT_TRUE(given.ok());
    EXPECT_EQ(count, GetParam());
  }
}

TEST_P(SortAheadTest, may_be_left_at_any_time) {
  for (const bool take_some : {false, true}) {
    SortAhead<GpuActivities> sorted(activities_, {kFolder, 1 << 14}, {ById(), ByTime()});
    if (!take_some) continue;
    const Status given = sorted.Next([](std::span<const SortEntry>) -> Status {
      return Error{ErrorKind::kOutput, "no", ""};
    });
    EXPECT_EQ(given.ok(), GetParam() == 0);
  }
}

TEST_P(SortAheadTest, what_cannot_be_kept_is_an_error_of_who_wants_it) {
  SortAhead<GpuActivities> sorted(activities_, {"/nowhere/at/all", 1}, {ByTime()});
  const Status given = sorted.Next([](std::span<const SortEntry>) { return Status(Done{}); });
  // A few fit in the blocks at hand.
  EXPECT_EQ(given.ok(), GetParam() < 4000) << GetParam();
  if (given.ok()) return;
  EXPECT_NE(given.error().what.find("/nowhere/at/all"), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(Counts, SortAheadTest, testing::Values(0, 5, 4096, 4097, 30000));

class SortBesideTest : public testing::TestWithParam<int64_t> {
 protected:
  static Status AddAll(SortBeside& sorted) {
    for (int64_t i = 1; i <= GetParam(); ++i) TRACEDB_TRY(sorted.Add({.key = -i, .value = i}));
    return Done{};
  }
};

TEST_P(SortBesideTest, gives_what_was_added_in_order) {
  SortBeside sorted(kFolder, 1 << 14, static_cast<size_t>(GetParam()));
  ASSERT_TRUE(AddAll(sorted).ok());
  int64_t count = 0;
  const Status given = sorted.ForEach([&](std::span<const SortEntry> entries) -> Status {
    for (const SortEntry& entry : entries) EXPECT_EQ(entry.value, GetParam() - count++);
    return Done{};
  });
  ASSERT_TRUE(given.ok());
  EXPECT_EQ(count, GetParam());
}

TEST_P(SortBesideTest, may_be_left_at_any_time) {
  const auto count = static_cast<size_t>(GetParam());
  { const SortBeside untouched(kFolder, 1 << 14, count); }
  {
    SortBeside added(kFolder, 1 << 14, count);
    ASSERT_TRUE(AddAll(added).ok());
  }
  SortBeside taken(kFolder, 1 << 14, count);
  ASSERT_TRUE(AddAll(taken).ok());
  const Status given = taken.ForEach([](std::span<const SortEntry>) -> Status {
    return Error{ErrorKind::kOutput, "no", ""};
  });
  EXPECT_EQ(given.ok(), GetParam() == 0);
}

// Where adding does not say so yet, taking does.
TEST_P(SortBesideTest, what_cannot_be_kept_is_an_error) {
  SortBeside sorted("/nowhere/at/all", 1, static_cast<size_t>(GetParam()));
  Status outcome = AddAll(sorted);
  if (outcome.ok()) {
    outcome = sorted.ForEach([](std::span<const SortEntry>) { return Status(Done{}); });
  }
  EXPECT_EQ(outcome.ok(), GetParam() < 4000) << GetParam();
  if (outcome.ok()) return;
  EXPECT_NE(outcome.error().what.find("/nowhere/at/all"), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(Counts, SortBesideTest, testing::Values(0, 5, 4096, 4097, 4608, 30000));

TEST(SortedRuns, of_very_many_lots_are_not_written_again_for_each) {
  // As many rows of a falling order, of which each lot is a run: 2,000 lots and 16 runs at a time.
  auto space = std::make_shared<PackedSpace>(kFolder, 0, 1024);
  struct Falling {
    bool operator()(const Two& a, const Two& b) const { return a[0] < b[0]; }
  };
  SortedRuns<Two, Falling> runs(space, {10, 16});
  constexpr int64_t kRows = 20000;
  for (int64_t i = 0; i < kRows; ++i) ASSERT_TRUE(runs.Add({kRows - i, i}).ok());
  ASSERT_TRUE(runs.Finish().ok());
  SortedRuns<Two, Falling>::Reader reader(runs);
  int64_t wanted = 0;
  for (; reader.row() != nullptr; reader.Next()) ASSERT_EQ((*reader.row())[0], ++wanted);
  EXPECT_EQ(wanted, kRows);
  // Five bytes a row, some times; all of them each time that 16 lots are there would be 60 times.
  EXPECT_LT(space->spill.bytes(), uint64_t{5 * 10 * kRows});
}

}  // namespace
}  // namespace tracedb
