#include "compare/series_tests.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace tracedb {
namespace {

// Up to here the exact distribution is worked out; above, the approximation is good to 1e-4.
constexpr size_t kExactValuesMax = 50;

double NormalTwoSided(double z) { return std::erfc(std::abs(z) / std::sqrt(2.0)); }

// Ranks from 1, equal values sharing the mean of theirs; `tied` is the sum of t^3 - t over ties.
std::vector<double> Ranks(std::span<const double> values, double& tied) {
  std::vector<size_t> order(values.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(),
            [&](size_t left, size_t right) { return values[left] < values[right]; });
  std::vector<double> ranks(values.size());
  tied = 0;
  for (size_t first = 0; first < order.size();) {
    size_t end = first + 1;
    while (end < order.size() && values[order[end]] == values[order[first]]) ++end;
    const auto alike = static_cast<double>(end - first);
    const double rank = (static_cast<double>(first + 1 + end)) / 2;
    for (size_t i = first; i < end; ++i) ranks[order[i]] = rank;
    tied += alike * alike * alike - alike;
    first = end;
  }
  return ranks;
}

// In how many of all ways to share the ranks out the statistic is u, for every u. By counting
// partitions: of ways(a, b), the largest rank is in one series or in the other.
std::vector<double> Ways(size_t a, size_t b) {
  std::vector<double> ways(a * b + 1, 0.0);
  ways[0] = 1;
  // The Gaussian binomial: times (1 - q^(b+i)), through (1 - q^i), for i from 1 to a.
  for (size_t i = 1; i <= a; ++i) {
    for (size_t u = a * b; u >= b + i; --u) ways[u] -= ways[u - b - i];
    for (size_t u = i; u <= a * b; ++u) ways[u] += ways[u - i];
  }
  return ways;
}

double ExactP(size_t a, size_t b, double u) {
  const std::vector<double> ways = Ways(a, b);
  const auto lower = static_cast<size_t>(std::min(u, static_cast<double>(a * b) - u));
  double tail = 0;
  double all = 0;
  for (size_t i = 0; i < ways.size(); ++i) {
    all += ways[i];
    if (i <= lower) tail += ways[i];
  }
  return std::min(1.0, 2 * tail / all);
}

// The continued fraction of the incomplete beta function, by Lentz's way.
double BetaFraction(double x, double a, double b) {
  constexpr double kTiny = 1e-300;
  double c = 1;
  double d = 1 - (a + b) * x / (a + 1);
  d = 1 / (std::abs(d) < kTiny ? kTiny : d);
  double fraction = d;
  for (int i = 1; i < 500; ++i) {
    for (const bool even : {true, false}) {
      const double m = i;
      const double term = even ? m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
                               : -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
      d = 1 + term * d;
      d = 1 / (std::abs(d) < kTiny ? kTiny : d);
      c = 1 + term / c;
      if (std::abs(c) < kTiny) c = kTiny;
      fraction *= c * d;
    }
    if (std::abs(c * d - 1) < 1e-15) break;
  }
  return fraction;
}

double IncompleteBeta(double x, double a, double b) {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  const double front = std::exp(std::lgamma(a + b) - std::lgamma(a) - std::lgamma(b) +
                                a * std::log(x) + b * std::log1p(-x));
  if (x < (a + 1) / (a + b + 2)) return front * BetaFraction(x, a, b) / a;
  return 1 - front * BetaFraction(1 - x, b, a) / b;
}

}  // namespace

double RankTestP(std::span<const double> a, std::span<const double> b) {
  if (a.empty() || b.empty()) return 1;
  std::vector<double> all(a.begin(), a.end());
  all.insert(all.end(), b.begin(), b.end());
  double tied = 0;
  const std::vector<double> ranks = Ranks(all, tied);
  const auto n = static_cast<double>(a.size());
  const auto m = static_cast<double>(b.size());
  double u = -n * (n + 1) / 2;
  for (size_t i = 0; i < a.size(); ++i) u += ranks[i];
  if (tied == 0 && a.size() <= kExactValuesMax && b.size() <= kExactValuesMax) {
    return ExactP(a.size(), b.size(), u);
  }
  const double count = n + m;
  const double variance = n * m / 12 * (count + 1 - tied / (count * (count - 1)));
  if (variance <= 0) return 1;
  const double distance = std::max(0.0, std::abs(u - n * m / 2) - 0.5);
  return std::min(1.0, NormalTwoSided(distance / std::sqrt(variance)));
}

double LeastRankTestP(size_t a, size_t b) {
  if (a == 0 || b == 0) return 1;
  double least = 2;
  for (size_t i = 1; i <= std::min(a, b); ++i) {
    least *= static_cast<double>(i) / static_cast<double>(std::max(a, b) + i);
  }
  return std::min(1.0, least);
}

double TrendTestP(std::span<const double> values) {
  if (values.size() < 4) return 1;
  double tied = 0;
  const std::vector<double> ranks = Ranks(values, tied);
  const auto n = static_cast<double>(values.size());
  const double middle = (n + 1) / 2;
  double together = 0;
  double of_ranks = 0;
  double of_places = 0;
  for (size_t i = 0; i < ranks.size(); ++i) {
    const double place = static_cast<double>(i + 1) - middle;
    together += place * (ranks[i] - middle);
    of_places += place * place;
    of_ranks += (ranks[i] - middle) * (ranks[i] - middle);
  }
  if (of_ranks == 0) return 1;
  const double rho = together / std::sqrt(of_ranks * of_places);
  if (std::abs(rho) >= 1) return 0;
  return StudentP(rho * std::sqrt((n - 2) / (1 - rho * rho)), n - 2);
}

double StudentP(double t, double degrees) {
  return IncompleteBeta(degrees / (degrees + t * t), degrees / 2, 0.5);
}

double StudentQuantile95(double degrees) {
  double low = 1.9;
  double high = 13;  // of one degree of freedom 12.71
  for (int i = 0; i < 80; ++i) {
    const double middle = (low + high) / 2;
    (StudentP(middle, degrees) > 0.05 ? low : high) = middle;
  }
  return (low + high) / 2;
}

std::vector<double> HolmAdjusted(std::span<const double> ps) {
  std::vector<size_t> order(ps.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(),
            [&](size_t left, size_t right) { return ps[left] < ps[right]; });
  std::vector<double> adjusted(ps.size());
  double least = 0;
  for (size_t i = 0; i < order.size(); ++i) {
    const double times = static_cast<double>(ps.size() - i) * ps[order[i]];
    least = std::max(least, std::min(1.0, times));
    adjusted[order[i]] = least;
  }
  return adjusted;
}

}  // namespace tracedb
