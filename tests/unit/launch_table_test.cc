// LaunchTable against a map, and LaunchCalls.

#include "derive/launch_table.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <set>

#include "random_json.h"

namespace tracedb {
namespace {

TEST(LaunchTable, of_several_calls_the_first_in_time_counts) {
  LaunchTable table(10);
  table.Want(5);
  EXPECT_EQ(table.Of(5).slice_id, 0);
  table.Offer({5, 100, 20});
  table.Offer({5, 101, 10});
  table.Offer({5, 102, 30});
  table.Offer({6, 103, 1});
  table.Want(5);
  EXPECT_EQ(table.Of(5).slice_id, 101);
  EXPECT_EQ(table.Of(5).ts, 10);
}

TEST(LaunchTable, random_correlations_agree_with_a_map) {
  test::Random random(28);
  for (const size_t most : {1u, 2u, 3u, 100u, 20000u}) {
    LaunchTable table(most);
    std::set<int64_t> wanted;
    std::map<int64_t, LaunchCall> naive;
    while (wanted.size() < most) {
      // Close together, far apart, or equal in their low bits.
      const int64_t correlation = random.OneIn(3)
                                      ? random.Between(INT64_MIN, INT64_MAX)
                                      : random.Between(-30000, 30000) << random.Below(40);
      wanted.insert(correlation);
      table.Want(correlation);
    }
    for (int64_t id = 1; id <= 30000; ++id) {
      auto known = wanted.begin();
      if (!random.OneIn(3)) {
        known = wanted.lower_bound(random.Between(-30000, 30000));
        if (known == wanted.end()) known = wanted.begin();
      }
      const int64_t correlation = *known + (random.OneIn(10) ? 1 : 0);
      const int64_t ts = random.Between(-1000, 1000);
      table.Offer({correlation, id, ts});
      if (!wanted.contains(correlation)) continue;
      LaunchCall& call = naive[correlation];
      if (call.slice_id == 0 || ts < call.ts) call = {correlation, id, ts};
    }
    for (const int64_t correlation : wanted) {
      ASSERT_EQ(table.Of(correlation).correlation, correlation);
      ASSERT_EQ(table.Of(correlation).slice_id, naive[correlation].slice_id);
      ASSERT_EQ(table.Of(correlation).ts, naive[correlation].ts);
    }
  }
}

TEST(LaunchCalls, all_are_kept_in_order_however_few_fit) {
  LaunchCalls calls(std::filesystem::temp_directory_path(), 0);
  for (int64_t i = 0; i < 100000; ++i) ASSERT_TRUE(calls.Add({i, i + 1, -i}).ok());
  int64_t next = 0;
  const Status read = calls.ForEach([&next](const LaunchCall& call) {
    ASSERT_EQ(call.correlation, next++);
    ASSERT_EQ(call.slice_id, next);
    ASSERT_EQ(call.ts, 1 - next);
  });
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(next, 100000);
}

}  // namespace
}  // namespace tracedb
