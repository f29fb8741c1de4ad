// Tests of whether two series of numbers differ, and of whether one grows. Pure functions.
#pragma once

#include <span>
#include <vector>

namespace tracedb {

// Two-sided p of Mann and Whitney's rank test: exact where the series are short and no two values
// are equal, else by the normal approximation, corrected for ties and continuity. 1 when either is
// empty, or all values are equal.
double RankTestP(std::span<const double> a, std::span<const double> b);

// The least p that RankTestP can give for series of these lengths: with a few values on each side
// no difference is large enough for a small one.
double LeastRankTestP(size_t a, size_t b);

// Two-sided p of Spearman's correlation of the values with their places; 1 when it cannot be told.
double TrendTestP(std::span<const double> values);

// Two-sided p of Student's t.
double StudentP(double t, double degrees);
// The t that is exceeded, on either side, with probability .05.
double StudentQuantile95(double degrees);

// Each p times the number of those that are as large or larger (Holm), never above 1, and rising
// in the order of the ps as they were.
std::vector<double> HolmAdjusted(std::span<const double> ps);

}  // namespace tracedb
