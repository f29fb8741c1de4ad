// LaunchTable against a map, and the bound of LaunchCalls.

#include "ingest/launch_table.h"

#include <gtest/gtest.h>

#include <map>

#include "random_json.h"

namespace tracedb {
namespace {

TEST(LaunchTable, of_several_calls_the_first_in_time_counts) {
  LaunchTable table(10);
  const uint32_t place = table.Want(5);
  EXPECT_EQ(table.At(place).slice_id, 0);
  table.Offer({5, 100, 20});
  table.Offer({5, 101, 10});
  table.Offer({5, 102, 30});
  table.Offer({6, 103, 1});
  EXPECT_EQ(table.At(place).slice_id, 101);
  EXPECT_EQ(table.At(place).ts, 10);
  EXPECT_EQ(table.Want(5), place);
}

TEST(LaunchTable, random_correlations_agree_with_a_map) {
  test::Random random(28);
  for (const size_t most : {1u, 2u, 3u, 100u, 20000u}) {
    LaunchTable table(most);
    std::map<int64_t, uint32_t> places;
    std::map<int64_t, LaunchCall> naive;
    while (places.size() < most) {
      // Close together, far apart, or equal in their low bits.
      const int64_t correlation = random.OneIn(3)
                                      ? random.Between(INT64_MIN, INT64_MAX)
                                      : random.Between(-30000, 30000) << random.Below(40);
      const auto [at, added] = places.emplace(correlation, static_cast<uint32_t>(places.size()));
      ASSERT_EQ(table.Want(correlation), at->second);
    }
    for (int64_t id = 1; id <= 30000; ++id) {
      auto known = places.begin();
      if (!random.OneIn(3)) {
        known = places.lower_bound(random.Between(-30000, 30000));
        if (known == places.end()) known = places.begin();
      }
      const int64_t correlation = known->first + (random.OneIn(10) ? 1 : 0);
      const int64_t ts = random.Between(-1000, 1000);
      table.Offer({correlation, id, ts});
      if (!places.contains(correlation)) continue;
      LaunchCall& call = naive[correlation];
      if (call.slice_id == 0 || ts < call.ts) call = {correlation, id, ts};
    }
    for (const auto& [correlation, place] : places) {
      ASSERT_EQ(table.At(place).correlation, correlation);
      ASSERT_EQ(table.At(place).slice_id, naive[correlation].slice_id);
      ASSERT_EQ(table.At(place).ts, naive[correlation].ts);
    }
  }
}

TEST(LaunchCalls, all_are_kept_in_order_up_to_the_bound) {
  LaunchCalls calls(100000 * sizeof(LaunchCall));
  for (int64_t i = 0; i < 100000; ++i) calls.Add({i, i + 1, -i});
  ASSERT_TRUE(calls.complete());
  int64_t next = 0;
  for (const auto& block : calls.blocks()) {
    for (const LaunchCall& call : block) ASSERT_EQ(call.correlation, next++);
  }
  EXPECT_EQ(next, 100000);
  calls.Add({1, 2, 3});
  EXPECT_FALSE(calls.complete());
  EXPECT_TRUE(calls.blocks().empty());
  calls.Add({1, 2, 3});
  EXPECT_TRUE(calls.blocks().empty());
}

}  // namespace
}  // namespace tracedb
