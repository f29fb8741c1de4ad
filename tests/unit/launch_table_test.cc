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
  const Status read = calls.ForEach({0, 99999}, [&next](const LaunchCall& call) {
    ASSERT_EQ(call.correlation, next++);
    ASSERT_EQ(call.slice_id, next);
    ASSERT_EQ(call.ts, 1 - next);
  });
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(next, 100000);
}

TEST(LaunchCalls, those_of_a_range_are_given_once_and_in_order_and_few_others) {
  for (const size_t bytes_max : {size_t{0}, size_t{1} << 24}) {
    LaunchCalls calls(std::filesystem::temp_directory_path(), bytes_max);
    std::multimap<int64_t, int64_t> ids;
    // Counted up, and from 1 again halfway, as where a process takes over.
    for (int64_t id = 1; id <= 100000; ++id) {
      const int64_t correlation = id % 50000 * 3;
      ids.emplace(correlation, id);
      ASSERT_TRUE(calls.Add({correlation, id, id}).ok());
    }
    for (const CorrelationRange& range : {CorrelationRange{0, 0},
                                          {1, 2},
                                          {30000, 45000},
                                          {149000, 200000},
                                          {-5, -1},
                                          {200000, INT64_MAX},
                                          {INT64_MIN, INT64_MAX}}) {
      int64_t last = 0;
      int64_t outside = 0;
      std::set<int64_t> given;
      const Status read = calls.ForEach(range, [&](const LaunchCall& call) {
        ASSERT_GT(call.slice_id, last);
        last = call.slice_id;
        given.insert(call.slice_id);
        if (call.correlation < range.least || call.correlation > range.most) ++outside;
      });
      ASSERT_TRUE(read.ok());
      for (auto at = ids.lower_bound(range.least); at != ids.upper_bound(range.most); ++at) {
        ASSERT_TRUE(given.contains(at->second)) << at->first;
      }
      EXPECT_LE(outside, 4 * 4096);  // two stretches of ids, at each end
    }
  }
}

}  // namespace
}  // namespace tracedb
