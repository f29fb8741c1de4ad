// From ends of collectives to clocks: a job whose clocks are known, with groups of every shape.

#include "ranks/clocks/clock_solve.h"

#include <gtest/gtest.h>

#include <cmath>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace tracedb {
namespace {

constexpr int64_t kStartNs = 1'795'186'313'000'000'000;
constexpr int64_t kSecondNs = 1'000'000'000;
constexpr int64_t kHourNs = 3600 * kSecondNs;

struct TrueClock {
  int64_t offset_ns = 0;
  double drift = 0;

  int64_t Shows(int64_t true_ns) const {
    const double since = static_cast<double>(true_ns - kStartNs);
    return true_ns + offset_ns + std::llround(since * drift);
  }
};

struct Job {
  std::vector<RankHost> ranks;
  std::vector<TrueClock> clocks;
  EndDifferences ends{100'000};
  std::mt19937 chance{7};
  std::normal_distribution<double> noise{0, 2e3};

  explicit Job(std::vector<TrueClock> of_ranks) : clocks(std::move(of_ranks)) {
    for (size_t i = 0; i < clocks.size(); ++i) {
      const auto rank = static_cast<int64_t>(i);
      ranks.push_back({rank + 1, rank, std::nullopt});
    }
  }

  void NameHosts(int32_t ranks_each) {
    for (RankHost& rank : ranks) rank.host = "node" + std::to_string(rank.rank / ranks_each);
  }

  void AddCollectives(const std::vector<int32_t>& group, int count, int64_t apart_ns) {
    for (int i = 0; i < count; ++i) {
      std::vector<CollectiveEnd> parts;
      for (const int32_t rank : group) {
        const int64_t end_ns = kStartNs + i * apart_ns + std::llround(noise(chance));
        parts.push_back(
            {rank, EndRole::kTogether, clocks[static_cast<size_t>(rank)].Shows(end_ns)});
      }
      ends.AddCollective(parts);
    }
  }

  ClockSolution Solve() { return SolveClocks(ranks, ends.Take()); }

  // How far the aligned clock of a rank is from that of another one at a true time.
  int64_t Apart(const ClockSolution& solution, size_t one, size_t other, int64_t true_ns) const {
    return Aligned(solution.ranks[one], clocks[one].Shows(true_ns)) -
           Aligned(solution.ranks[other], clocks[other].Shows(true_ns));
  }
  static int64_t Aligned(const SolvedClock& clock, int64_t ts_ns) {
    return ts_ns + clock.offset_ns + (ts_ns - clock.origin_ns) * clock.drift_ppb / kSecondNs;
  }
};

TEST(ClockSolve, nobody_and_one_rank) {
  EXPECT_TRUE(SolveClocks({}, {}).ranks.empty());
  const ClockSolution solution = SolveClocks({{1, 3, "a"}}, {});
  ASSERT_EQ(solution.ranks.size(), 1U);
  EXPECT_FALSE(solution.ranks[0].is_compared);
}

TEST(ClockSolve, clocks_that_agree_are_left_alone) {
  Job job(std::vector<TrueClock>(4));
  job.AddCollectives({0, 1, 2, 3}, 200, 10'000'000);
  const ClockSolution solution = job.Solve();
  for (const SolvedClock& clock : solution.ranks) {
    EXPECT_TRUE(clock.is_compared);
    EXPECT_EQ(clock.offset_ns, 0);
    EXPECT_EQ(clock.drift_ppb, 0);
    EXPECT_EQ(clock.reference_rank, 0);
    EXPECT_LT(clock.residual_p95_ns, 10'000);
  }
  EXPECT_EQ(solution.pairs.size(), 6U);
}

TEST(ClockSolve, a_difference_below_50_us_is_left_alone) {
  Job job({{}, {40'000, 0}});
  job.AddCollectives({0, 1}, 100, 10'000'000);
  EXPECT_EQ(job.Solve().ranks[1].offset_ns, 0);
}

TEST(ClockSolve, clocks_are_found_over_a_chain_of_groups) {
  Job job({{}, {-200'000, 0}, {kHourNs, 0}, {-9 * kHourNs, 0}});
  job.AddCollectives({0, 1}, 50, 3'000'000);
  job.AddCollectives({2, 1}, 50, 3'000'000);
  job.AddCollectives({2, 3}, 50, 3'000'000);
  const ClockSolution solution = job.Solve();
  for (size_t rank = 1; rank < 4; ++rank) {
    EXPECT_NEAR(static_cast<double>(job.Apart(solution, rank, 0, kStartNs)), 0, 5e3);
    EXPECT_EQ(solution.ranks[rank].reference_rank, 0);
  }
  EXPECT_EQ(solution.ranks[0].offset_ns, 0);
}

TEST(ClockSolve, ranks_of_a_host_have_one_clock_and_its_drift) {
  const TrueClock other{5 * kSecondNs, 30e-6};
  Job job({{}, {}, other, other});
  job.NameHosts(2);
  job.AddCollectives({0, 1}, 300, 100'000'000);
  job.AddCollectives({2, 3}, 300, 100'000'000);
  job.AddCollectives({0, 2}, 300, 100'000'000);  // rank 3 shares nothing with the other host
  const ClockSolution solution = job.Solve();
  EXPECT_EQ(solution.ranks[2].name, "node1");
  EXPECT_EQ(solution.ranks[2].offset_ns, solution.ranks[3].offset_ns);
  EXPECT_EQ(solution.ranks[2].drift_ppb, solution.ranks[3].drift_ppb);
  EXPECT_NEAR(static_cast<double>(solution.ranks[2].drift_ppb), -30e3, 200);
  for (const int64_t at_ns : {kStartNs, kStartNs + 15 * kSecondNs, kStartNs + 30 * kSecondNs}) {
    EXPECT_NEAR(static_cast<double>(job.Apart(solution, 3, 0, at_ns)), 0, 10e3);
  }
  EXPECT_EQ(solution.pairs.size(), 3U);  // each host with itself, and the two
}

TEST(ClockSolve, a_rank_that_disagrees_with_its_host_has_a_clock_of_its_own) {
  Job job({{}, {}, {}, {3'000'000, 0}});
  job.NameHosts(4);
  job.AddCollectives({0, 1, 2, 3}, 100, 3'000'000);
  const ClockSolution solution = job.Solve();
  EXPECT_EQ(solution.ranks[0].name, "node0");
  EXPECT_EQ(solution.ranks[3].name, "node0 rank 3");
  EXPECT_NEAR(static_cast<double>(solution.ranks[3].offset_ns), -3e6, 5e3);
  EXPECT_EQ(solution.ranks[1].offset_ns, 0);
}

TEST(ClockSolve, parts_that_share_nothing_have_references_of_their_own) {
  Job job({{}, {700'000, 0}, {5 * kHourNs, 0}, {5 * kHourNs - 900'000, 0}, {}});
  job.AddCollectives({0, 1}, 50, 3'000'000);
  job.AddCollectives({2, 3}, 50, 3'000'000);
  const ClockSolution solution = job.Solve();
  EXPECT_EQ(solution.ranks[1].reference_rank, 0);
  EXPECT_EQ(solution.ranks[2].reference_rank, 2);
  EXPECT_EQ(solution.ranks[3].reference_rank, 2);
  EXPECT_EQ(solution.ranks[2].offset_ns, 0);
  EXPECT_NEAR(static_cast<double>(job.Apart(solution, 3, 2, kStartNs)), 0, 5e3);
  EXPECT_FALSE(solution.ranks[4].is_compared);
}

TEST(ClockSolve, a_group_whose_collectives_are_matched_wrongly_does_not_spoil_the_rest) {
  std::vector<TrueClock> clocks(6);
  clocks[3] = clocks[4] = clocks[5] = {-2'000'000, 0};
  Job job(clocks);
  for (const auto& group : std::vector<std::vector<int32_t>>{
           {0, 1, 2}, {3, 4, 5}, {0, 3}, {1, 4}, {0, 4}, {1, 3}, {0, 5}, {1, 5}, {2, 4}}) {
    job.AddCollectives(group, 60, 3'000'000);
  }
  // Rank 5's recording began one collective late: each is a beat apart.
  for (int i = 0; i < 60; ++i) {
    const int64_t end_ns = kStartNs + i * 3'000'000;
    std::vector<CollectiveEnd> parts = {
        {2, EndRole::kTogether, clocks[2].Shows(end_ns)},
        {5, EndRole::kTogether, clocks[5].Shows(end_ns + 3'000'000)}};
    job.ends.AddCollective(parts);
  }
  const ClockSolution solution = job.Solve();
  for (size_t rank = 1; rank < 6; ++rank) {
    EXPECT_NEAR(static_cast<double>(job.Apart(solution, rank, 0, kStartNs)), 0, 10e3)
        << "rank " << rank;
  }
}

}  // namespace
}  // namespace tracedb
