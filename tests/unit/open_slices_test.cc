// OpenSlices: innermost first, within its bound, and what became of those that did not fit.

#include "ingest/build/open_slices.h"

#include <gtest/gtest.h>

#include <iterator>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "random_json.h"

namespace tracedb {
namespace {

constexpr size_t kRoomy = 1 << 20;

bool Open(OpenSlices& slices, uint64_t key, int64_t ts, size_t text_bytes = 0,
          int64_t event_name = 1) {
  OpenSlice slice;
  slice.ts = ts;
  slice.event_name = event_name;
  const std::string text(text_bytes, 'x');
  ArgsValues values;
  if (text_bytes > 0) {
    values.mask = values.text_mask = 1;
    values.texts[0] = text;
  }
  slice.values.Keep(values);
  return slices.Open(key, slice);
}

// The time of the slice that an end under `key` finds.
std::optional<int64_t> Closed(OpenSlices& slices, uint64_t key, bool refused_wanted = false,
                              int64_t event_name = 0) {
  bool refused = !refused_wanted;
  const auto slice = slices.Close(key, event_name, refused);
  EXPECT_EQ(refused, refused_wanted);
  if (!slice.has_value()) return std::nullopt;
  return slice->ts;
}

TEST(OpenSlices, an_end_finds_the_innermost_begin_of_its_own_key) {
  OpenSlices slices(kRoomy);
  EXPECT_TRUE(Open(slices, 1, 10));
  EXPECT_TRUE(Open(slices, 2, 20));
  EXPECT_TRUE(Open(slices, 1, 11));
  EXPECT_EQ(Closed(slices, 1), 11);
  EXPECT_EQ(Closed(slices, 1), 10);
  EXPECT_EQ(Closed(slices, 1), std::nullopt);
  EXPECT_EQ(Closed(slices, 2), 20);
  EXPECT_EQ(Closed(slices, 3), std::nullopt);
}

TEST(OpenSlices, an_end_with_a_label_finds_the_innermost_begin_of_that_label) {
  OpenSlices slices(kRoomy);
  EXPECT_TRUE(Open(slices, 1, 10, 0, 7));
  EXPECT_TRUE(Open(slices, 1, 11, 0, 7));
  EXPECT_TRUE(Open(slices, 1, 12, 0, 8));
  EXPECT_EQ(Closed(slices, 1, false, 9), std::nullopt);
  EXPECT_EQ(Closed(slices, 1, false, 7), 11);
  EXPECT_EQ(Closed(slices, 1, false, 7), 10);
  EXPECT_EQ(Closed(slices, 1, false, 7), std::nullopt);
  EXPECT_EQ(Closed(slices, 1, false, 8), 12);
  EXPECT_EQ(Closed(slices, 1), std::nullopt);
}

TEST(OpenSlices, a_begin_that_does_not_fit_is_refused_and_takes_its_own_end_with_it) {
  OpenSlices slices(4000);
  EXPECT_TRUE(Open(slices, 1, 10));
  EXPECT_FALSE(Open(slices, 1, 11, 10000));
  EXPECT_FALSE(Open(slices, 1, 12));  // inside the refused one
  EXPECT_EQ(Closed(slices, 1, true), std::nullopt);
  EXPECT_EQ(Closed(slices, 1, true), std::nullopt);
  EXPECT_EQ(Closed(slices, 1), 10);
  EXPECT_EQ(Closed(slices, 1), std::nullopt);
}

TEST(OpenSlices, the_end_of_a_refused_begin_under_a_new_key_is_known_for_one) {
  OpenSlices slices(4000);
  EXPECT_FALSE(Open(slices, 5, 50, 10000));
  EXPECT_EQ(Closed(slices, 5, true), std::nullopt);
  EXPECT_EQ(Closed(slices, 5), std::nullopt);
}

TEST(OpenSlices, closing_makes_room_again) {
  OpenSlices slices(3000);
  for (int round = 0; round < 10000; ++round) {
    ASSERT_TRUE(Open(slices, 1, round, 1000)) << round;
    ASSERT_EQ(Closed(slices, 1), round);
  }
}

TEST(OpenSlices, slices_beyond_the_bound_are_refused_whatever_their_keys) {
  OpenSlices slices(100000);
  int taken = 0;
  for (int i = 0; i < 10000; ++i) taken += Open(slices, static_cast<uint64_t>(i), i) ? 1 : 0;
  EXPECT_GT(taken, 50);
  EXPECT_LT(taken, static_cast<int>(100000 / sizeof(OpenSlice)));
}

TEST(OpenSlices, take_any_empties_it) {
  OpenSlices slices(kRoomy);
  std::map<int64_t, int> seen;
  for (int64_t ts = 0; ts < 100; ++ts) ASSERT_TRUE(Open(slices, static_cast<uint64_t>(ts % 7), ts));
  while (const auto slice = slices.TakeAny()) ++seen[slice->ts];
  EXPECT_EQ(seen.size(), 100u);
  EXPECT_EQ(slices.TakeAny(), std::nullopt);
}

TEST(OpenSlices, random_begins_and_ends_agree_with_stacks) {
  test::Random random(17);
  OpenSlices slices(kRoomy);
  std::map<uint64_t, std::vector<std::pair<int64_t, int64_t>>> naive;  // time and event_name
  for (int64_t step = 0; step < 100000; ++step) {
    const uint64_t key = random.Below(20);
    auto& stack = naive[key];
    const int64_t event_name = random.Between(1, 4);
    if (random.OneIn(2) && stack.size() < 40) {
      ASSERT_TRUE(Open(slices, key, step, random.Below(50), event_name));
      stack.emplace_back(step, event_name);
      continue;
    }
    const bool any = random.OneIn(2);
    auto wanted = stack.rbegin();
    while (!any && wanted != stack.rend() && wanted->second != event_name) ++wanted;
    const auto found = Closed(slices, key, false, any ? 0 : event_name);
    if (wanted == stack.rend()) {
      ASSERT_EQ(found, std::nullopt);
    } else {
      ASSERT_EQ(found, wanted->first);
      stack.erase(std::next(wanted).base());
    }
  }
}

TEST(KeptValues, values_outlive_the_texts_they_came_from) {
  KeptValues kept;
  {
    const std::string text(100, 'y');
    ArgsValues values;
    values.mask = 1u << 3 | 1u << 20 | 1u;
    values.text_mask = 1u << 20;
    values.ints[3] = INT64_MIN;
    values.ints[0] = 7;
    values.texts[20] = text;
    kept.Keep(values);
  }
  const ArgsValues values = kept.Values();
  EXPECT_EQ(values.mask, 1u << 3 | 1u << 20 | 1u);
  EXPECT_EQ(values.text_mask, 1u << 20);
  EXPECT_EQ(values.ints[3], INT64_MIN);
  EXPECT_EQ(values.ints[0], 7);
  EXPECT_EQ(values.texts[20], std::string(100, 'y'));
  EXPECT_GE(kept.Bytes(), 100u);
}

}  // namespace
}  // namespace tracedb
