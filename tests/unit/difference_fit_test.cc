// How far apart two clocks are, from ends with noise, outliers, buffered sends and drift.

#include "ranks/clocks/difference_fit.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

namespace tracedb {
namespace {

constexpr double kSpan = 10e9;  // ns

struct Clocks {
  double apart = 0;
  double drift = 0;
  double noise = 2e3;
};

std::vector<TimedValue> Ends(size_t count, const Clocks& clocks, std::mt19937& chance) {
  std::normal_distribution<double> noise(0, clocks.noise);
  std::vector<TimedValue> ends;
  for (size_t i = 0; i < count; ++i) {
    const double at = kSpan * (static_cast<double>(i) / static_cast<double>(count) - 0.5);
    ends.push_back({at, clocks.apart + clocks.drift * at + noise(chance)});
  }
  return ends;
}

TEST(DifferenceFit, too_few_say_nothing) {
  std::mt19937 chance(1);
  TimedDifferences differences;
  EXPECT_FALSE(FitDifferences(differences).has_value());
  differences.of(EndKind::kTogether) = Ends(kDifferencesMin - 1, {}, chance);
  EXPECT_FALSE(FitDifferences(differences).has_value());
  differences.of(EndKind::kTogether) = Ends(kDifferencesMin, {}, chance);
  EXPECT_TRUE(FitDifferences(differences).has_value());
}

TEST(DifferenceFit, a_third_of_the_ends_may_be_anything) {
  std::mt19937 chance(2);
  std::uniform_real_distribution<double> anything(0, 1e9);
  for (int round = 0; round < 50; ++round) {
    TimedDifferences differences;
    auto& ends = differences.of(EndKind::kTogether);
    ends = Ends(90, {.apart = 123e3}, chance);
    for (size_t i = 0; i < ends.size(); i += 3) ends[i].value += anything(chance);
    const auto fit = FitDifferences(differences);
    ASSERT_TRUE(fit.has_value());
    EXPECT_NEAR(fit->value, 123e3, 5e3) << "round " << round;
    EXPECT_EQ(fit->slope, 0);
  }
}

TEST(DifferenceFit, ends_that_do_not_agree_are_not_those_of_one_collective) {
  std::mt19937 chance(3);
  TimedDifferences differences;
  differences.of(EndKind::kTogether) = Ends(100, {.noise = 5e6}, chance);
  EXPECT_FALSE(FitDifferences(differences).has_value());
}

TEST(DifferenceFit, a_drift_is_found_where_it_shows) {
  std::mt19937 chance(4);
  for (const double drift : {20e-6, -50e-6, 200e-6}) {
    TimedDifferences differences;
    differences.of(EndKind::kTogether) = Ends(300, {.apart = -7e6, .drift = drift}, chance);
    const auto fit = FitDifferences(differences);
    ASSERT_TRUE(fit.has_value());
    EXPECT_NEAR(fit->slope, drift, 0.3e-6);
    EXPECT_NEAR(fit->value, -7e6, 2e3);
    EXPECT_GT(fit->slope_sigma, 0);
  }
}

TEST(DifferenceFit, noise_is_no_drift) {
  std::mt19937 chance(5);
  for (int round = 0; round < 100; ++round) {
    TimedDifferences differences;
    differences.of(EndKind::kTogether) = Ends(200, {.noise = 20e3}, chance);
    const auto fit = FitDifferences(differences);
    ASSERT_TRUE(fit.has_value());
    EXPECT_EQ(fit->slope, 0) << "round " << round;
  }
}

// A receive ends a little after the send; long after it, when the send went into a buffer.
std::vector<TimedValue> Received(double apart, double sign, std::mt19937& chance) {
  std::uniform_real_distribution<double> late(0, 40e6);
  std::vector<TimedValue> ends = Ends(40, {.apart = apart + sign * 8e3, .noise = 500}, chance);
  for (size_t i = 0; i < ends.size(); ++i) {
    if (i % 3 == 0) ends[i].value += sign * late(chance);
  }
  return ends;
}

TEST(DifferenceFit, of_sends_the_quickest_count_and_their_way_cancels_out) {
  std::mt19937 chance(6);
  TimedDifferences differences;
  differences.of(EndKind::kFirstSends) = Received(-3e6, 1, chance);
  auto fit = FitDifferences(differences);
  ASSERT_TRUE(fit.has_value());
  EXPECT_NEAR(fit->value, -3e6 + 8e3, 2e3);  // in one direction the way is not known
  differences.of(EndKind::kSecondSends) = Received(-3e6, -1, chance);
  fit = FitDifferences(differences);
  ASSERT_TRUE(fit.has_value());
  EXPECT_NEAR(fit->value, -3e6, 1e3);
}

TEST(DifferenceFit, sends_are_left_aside_where_there_are_collectives) {
  std::mt19937 chance(7);
  TimedDifferences differences;
  differences.of(EndKind::kFirstSends) = Received(90e3, 1, chance);
  differences.of(EndKind::kTogether) = Ends(10, {.apart = 50e3}, chance);
  const auto fit = FitDifferences(differences);
  ASSERT_TRUE(fit.has_value());
  EXPECT_NEAR(fit->value, 50e3, 4e3);
}

TEST(DifferenceFit, sends_out_of_a_buffer_are_no_residual) {
  std::mt19937 chance(8);
  TimedDifferences differences;
  differences.of(EndKind::kFirstSends) = Received(0, 1, chance);
  differences.of(EndKind::kSecondSends) = Received(0, -1, chance);
  std::vector<double> residuals;
  AppendResiduals(differences, residuals);
  EXPECT_GE(residuals.size(), 40U);
  EXPECT_LT(Quantile(residuals, 0.95), 15e3);
}

TEST(DifferenceFit, quantiles) {
  std::vector<double> values = {5, 1, 4, 2, 3};
  EXPECT_EQ(Quantile(values, 0), 1);
  EXPECT_EQ(Quantile(values, 0.5), 3);
  EXPECT_EQ(Quantile(values, 1), 5);
  std::vector<double> one = {7};
  EXPECT_EQ(Quantile(one, 0.95), 7);
}

}  // namespace
}  // namespace tracedb
