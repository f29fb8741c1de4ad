// Which ends are compared, and how many of them are kept.

#include "ranks/clocks/end_differences.h"

#include <gtest/gtest.h>

#include <ctime>
#include <vector>

namespace tracedb {
namespace {

TEST(EndDifferences, what_a_collective_means_for_the_ends_of_its_ranks) {
  for (const char* name : {"allreduce", "_allgather_base", "_reduce_scatter_base", "ALL_TO_ALLV",
                           "allreduce_coalesced", "barrier"}) {
    EXPECT_EQ(EndRoleOf(name), EndRole::kTogether) << name;
  }
  EXPECT_EQ(EndRoleOf("send"), EndRole::kSend);
  EXPECT_EQ(EndRoleOf("recv"), EndRole::kReceive);
  for (const char* name : {"broadcast", "reduce", "gather", "scatter", ""}) {
    EXPECT_FALSE(EndRoleOf(name).has_value()) << name;
  }
}

TEST(EndDifferences, pairs_are_in_the_order_of_the_ranks) {
  EndDifferences ends(1000);
  std::vector<CollectiveEnd> parts = {
      {2, EndRole::kTogether, 130}, {0, EndRole::kTogether, 100}, {1, EndRole::kTogether, 120}};
  ends.AddCollective(parts);
  parts = {{1, EndRole::kReceive, 50}, {0, EndRole::kSend, 40}};
  ends.AddCollective(parts);
  const std::vector<RankPair> pairs = ends.Take();
  ASSERT_EQ(pairs.size(), 3U);
  EXPECT_EQ(pairs[0].first, 0);
  EXPECT_EQ(pairs[0].second, 1);
  const auto& together = pairs[0].ends[static_cast<size_t>(EndKind::kTogether)].kept();
  ASSERT_EQ(together.size(), 1U);
  EXPECT_EQ(together[0].at_ns, 100);
  EXPECT_EQ(together[0].by_ns, 20);
  const auto& sends = pairs[0].ends[static_cast<size_t>(EndKind::kFirstSends)].kept();
  ASSERT_EQ(sends.size(), 1U);
  EXPECT_EQ(sends[0].by_ns, 10);
  EXPECT_EQ(pairs[2].first, 1);
  EXPECT_EQ(pairs[2].second, 2);
  EXPECT_TRUE(ends.Take().empty());
}

TEST(EndDifferences, two_parts_of_one_rank_tell_nothing) {
  EndDifferences ends(1000);
  std::vector<CollectiveEnd> parts = {
      {0, EndRole::kTogether, 1}, {1, EndRole::kTogether, 2}, {0, EndRole::kTogether, 3}};
  ends.AddCollective(parts);
  EXPECT_TRUE(ends.Take().empty());
}

TEST(EndDifferences, every_rank_of_a_large_group_is_compared_with_a_few) {
  EndDifferences ends(1'000'000);
  std::vector<CollectiveEnd> parts;
  for (int32_t rank = 0; rank < 1000; ++rank) parts.push_back({rank, EndRole::kTogether, 5});
  ends.AddCollective(parts);
  const std::vector<RankPair> pairs = ends.Take();
  EXPECT_LT(pairs.size(), 5000U);
  std::vector<int> met(1000);
  for (const RankPair& pair : pairs) {
    ++met[static_cast<size_t>(pair.first)];
    ++met[static_cast<size_t>(pair.second)];
  }
  for (const int count : met) EXPECT_GE(count, 3);
}

TEST(EndDifferences, what_is_kept_is_bounded_and_spread_evenly) {
  EndDifferences ends(1000);
  for (int i = 0; i < 100'000; ++i) {
    std::vector<CollectiveEnd> parts = {{0, EndRole::kTogether, i}, {1, EndRole::kTogether, i}};
    if (i % 10'000 == 0) parts.push_back({2, EndRole::kTogether, i});
    ends.AddCollective(parts);
  }
  const std::vector<RankPair> pairs = ends.Take();
  ASSERT_EQ(pairs.size(), 3U);
  EXPECT_EQ(pairs[0].Seen(), 100'000);
  const auto& kept = pairs[0].ends[0].kept();
  EXPECT_LE(kept.size(), 1000U);
  EXPECT_GE(kept.size(), 400U);
  const int64_t apart_ns = kept[1].at_ns - kept[0].at_ns;
  for (size_t i = 1; i < kept.size(); ++i) {
    EXPECT_EQ(kept[i].at_ns - kept[i - 1].at_ns, apart_ns);
  }
  EXPECT_EQ(pairs[1].ends[0].kept().size(), 10U);  // few, so all of them
}

// 40,000 pairs of which each has few: to look at all of them for every difference would take 4e10
// steps.
TEST(EndDifferences, very_many_pairs_with_few_differences_each_take_as_long_as_their_differences) {
  constexpr int32_t kPairs = 40'000;
  constexpr int kOfEach = 30;
  EndDifferences ends(1000);
  const std::clock_t begun = std::clock();
  for (int i = 0; i < kOfEach; ++i) {
    for (int32_t pair = 0; pair < kPairs; ++pair) {
      std::vector<CollectiveEnd> parts = {{2 * pair, EndRole::kTogether, i},
                                          {2 * pair + 1, EndRole::kTogether, i}};
      ends.AddCollective(parts);
      if (pair % 1000 == 0) {
        ASSERT_LT(std::clock() - begun, 60 * CLOCKS_PER_SEC) << i << ", pair " << pair;
      }
    }
  }
  const std::vector<RankPair> pairs = ends.Take();
  ASSERT_EQ(pairs.size(), size_t{kPairs});
  for (const RankPair& pair : pairs) ASSERT_EQ(pair.ends[0].kept().size(), size_t{kOfEach});
}

}  // namespace
}  // namespace tracedb
