#include "compare/series_noise.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "compare/series_tests.h"

namespace tracedb {
namespace {

constexpr size_t kStepsMin = 12;
constexpr double kSignificant = 0.05;
constexpr double kTrendP = 0.01;
constexpr size_t kDraws = 1000;
// A longer series is drawn from as means of steps that follow each other: no less is known of it.
constexpr size_t kDrawnMax = 600;

double Median(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

double MedianOf(std::span<const double> values) { return Median({values.begin(), values.end()}); }

bool HasTrend(std::span<const double> steps, double effect_min) {
  if (TrendTestP(steps) >= kTrendP) return false;
  const size_t third = steps.size() / 3;
  const double change =
      MedianOf(steps.subspan(steps.size() - third)) - MedianOf(steps.subspan(0, third));
  return std::abs(change) > effect_min * std::abs(MedianOf(steps));
}

// Numbers that are the same on every machine: splitmix64, from a fixed start.
class Draws {
 public:
  size_t Below(size_t bound) {
    state_ += 0x9E3779B97F4A7C15;
    uint64_t mixed = state_;
    mixed = (mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9;
    mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EB;
    return static_cast<size_t>((mixed ^ (mixed >> 31)) % bound);
  }

 private:
  uint64_t state_ = 20;
};

std::vector<double> Thinned(std::span<const double> steps) {
  const size_t each = (steps.size() + kDrawnMax - 1) / kDrawnMax;
  if (each <= 1) return {steps.begin(), steps.end()};
  std::vector<double> means;
  for (size_t first = 0; first + each <= steps.size(); first += each) {
    const auto begin = steps.begin() + static_cast<ptrdiff_t>(first);
    means.push_back(std::accumulate(begin, begin + static_cast<ptrdiff_t>(each), 0.0) /
                    static_cast<double>(each));
  }
  return means;
}

// The mean of the middle half of steps drawn in blocks, over and over.
std::vector<double> DrawnMeans(std::span<const double> steps, Draws& draws) {
  const std::vector<double> values = Thinned(steps);
  const size_t block = BlockLength(values);
  std::vector<double> means;
  means.reserve(kDraws);
  std::vector<double> drawn;
  for (size_t i = 0; i < kDraws; ++i) {
    drawn.clear();
    while (drawn.size() < values.size()) {
      const size_t first = draws.Below(values.size() - block + 1);
      const size_t count = std::min(block, values.size() - drawn.size());
      drawn.insert(drawn.end(), values.begin() + static_cast<ptrdiff_t>(first),
                   values.begin() + static_cast<ptrdiff_t>(first + count));
    }
    means.push_back(MiddleMean(drawn));
  }
  return means;
}

void SetInterval(std::span<const double> base, std::span<const double> now, Judgement& judgement) {
  Draws draws;
  const std::vector<double> of_base = DrawnMeans(base, draws);
  std::vector<double> changes = DrawnMeans(now, draws);
  for (size_t i = 0; i < kDraws; ++i) changes[i] -= of_base[i];
  std::sort(changes.begin(), changes.end());
  // A drawn interval may leave out the change itself where few values differ.
  judgement.low = std::min(judgement.change, changes[kDraws / 40]);
  judgement.high = std::max(judgement.change, changes[kDraws - 1 - kDraws / 40]);
}

double SquaresAroundMean(std::span<const double> values, double scale) {
  if (values.empty()) return 0;
  const double mean =
      std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return squares * scale * scale;
}

double Mean(std::span<const double> values) {
  if (values.empty()) return 0;
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

bool AreEqual(std::span<const double> values) {
  return std::adjacent_find(values.begin(), values.end(), std::not_equal_to<>()) == values.end();
}

// Why it is neither beyond the noise nor nothing.
std::string_view WhyUndecided(const Judgement& judgement) {
  const double effect = judgement.effect_min;
  const bool is_there = judgement.p < kSignificant && (judgement.low > 0 || judgement.high < 0);
  if (is_there && judgement.margin <= effect) {
    return "there is a change, which may be less than the least one that counts (--min-effect)";
  }
  if (judgement.between_runs) {
    return "the change is within what runs that are alike differ by";
  }
  const bool is_beyond =
      judgement.p < kSignificant && (judgement.low > effect || judgement.high < -effect);
  const bool is_nothing = judgement.low >= -effect && judgement.high <= effect;
  if (judgement.margin > effect && (is_beyond || is_nothing)) {
    return "the steps of one run drift, and two runs that are alike may lie as far apart";
  }
  return "the change is within what the steps do by themselves";
}

void Decide(Judgement& judgement) {
  judgement.least_visible = judgement.margin + std::max(judgement.change - judgement.low,
                                                        judgement.high - judgement.change);
  judgement.reason = {};
  if (judgement.p < kSignificant && judgement.low > judgement.margin) {
    judgement.verdict = Verdict::kSlower;
  } else if (judgement.p < kSignificant && judgement.high < -judgement.margin) {
    judgement.verdict = Verdict::kFaster;
  } else if (judgement.margin <= judgement.effect_min && judgement.low >= -judgement.effect_min &&
             judgement.high <= judgement.effect_min) {
    judgement.verdict = Verdict::kSame;
  } else {
    judgement.verdict = Verdict::kCannotTell;
    judgement.reason = WhyUndecided(judgement);
  }
}

}  // namespace

std::vector<size_t> MiddlePlaces(std::span<const double> values) {
  std::vector<size_t> places(values.size());
  std::iota(places.begin(), places.end(), size_t{0});
  std::stable_sort(places.begin(), places.end(),
                   [&](size_t left, size_t right) { return values[left] < values[right]; });
  // Of two or three values all: no quarter of them can be left out.
  const size_t quarter = values.size() / 4;
  places.erase(places.end() - static_cast<ptrdiff_t>(quarter), places.end());
  places.erase(places.begin(), places.begin() + static_cast<ptrdiff_t>(quarter));
  std::sort(places.begin(), places.end());
  return places;
}

double MiddleMean(std::span<const double> values) {
  if (values.empty()) return 0;
  std::vector<double> sorted(values.begin(), values.end());
  std::sort(sorted.begin(), sorted.end());
  const size_t quarter = sorted.size() / 4;
  return Mean(std::span(sorted).subspan(quarter, sorted.size() - 2 * quarter));
}

SteadyPart FindSteadyPart(std::span<const double> steps, double effect_min) {
  if (steps.size() < kStepsMin || !HasTrend(steps, effect_min)) return {0, steps.size()};
  const size_t least = std::max(kStepsMin, (3 * steps.size() + 3) / 4);
  const size_t stride = std::max<size_t>(1, steps.size() / 40);  // of thousands not each is tried
  for (size_t count = steps.size(); count >= least + stride;) {
    count -= stride;
    for (size_t first = 0; first + count <= steps.size(); first += stride) {
      if (!HasTrend(steps.subspan(first, count), effect_min)) return {first, count};
    }
  }
  return {0, 0};
}

std::string_view WhyUnfit(const SteadyPart& part) {
  if (part.count == 0) return "the steps are not steady: they grow or shrink";
  return part.count < kStepsMin ? "12 steady steps of each run are needed" : "";
}

double Drift(std::span<const double> steps) {
  if (steps.size() < 4) return 0;
  double least = 0;
  double greatest = 0;
  for (size_t quarter = 0; quarter < 4; ++quarter) {
    const size_t first = steps.size() * quarter / 4;
    const double median = MedianOf(steps.subspan(first, steps.size() * (quarter + 1) / 4 - first));
    least = quarter == 0 ? median : std::min(least, median);
    greatest = quarter == 0 ? median : std::max(greatest, median);
  }
  return greatest - least;
}

size_t BlockLength(std::span<const double> steps) {
  const size_t n = steps.size();
  if (n < 2) return 1;
  const double mean = Mean(steps);
  double squares = 0;
  for (const double step : steps) squares += (step - mean) * (step - mean);
  size_t together = 1;
  const double noise = 2 / std::sqrt(static_cast<double>(n));
  for (size_t lag = 1; lag < n / 2 && squares > 0; ++lag) {
    double products = 0;
    for (size_t i = lag; i < n; ++i) products += (steps[i] - mean) * (steps[i - lag] - mean);
    if (products / squares < noise) break;
    together = lag + 1;
  }
  const auto root = static_cast<size_t>(std::ceil(std::sqrt(static_cast<double>(n))));
  return std::clamp<size_t>(std::max(together, root), 1, n / 2);
}

void SetAdjustedP(Judgement& judgement, double p) {
  if (!judgement.least_visible.has_value()) return;  // there was nothing to judge by
  judgement.p = p;
  Decide(judgement);
}

Judgement JudgeSteps(std::span<const double> base, std::span<const double> now,
                     const Margins& margins) {
  Judgement judgement;
  judgement.base = MiddleMean(base);
  judgement.change = MiddleMean(now) - judgement.base;
  judgement.low = judgement.high = judgement.change;
  judgement.effect_min = margins.effect_min;
  judgement.reason = margins.unfit;
  if (!judgement.reason.empty()) return judgement;
  judgement.p = RankTestP(base, now);
  judgement.margin = std::max({margins.effect_min, Drift(base), Drift(now)});
  SetInterval(base, now, judgement);
  if (std::equal(base.begin(), base.end(), now.begin(), now.end())) {  // a row of no time, say
    judgement.low = judgement.high = 0;
    judgement.margin = margins.effect_min;
  }
  Decide(judgement);
  return judgement;
}

Judgement JudgeRuns(std::span<const double> base, std::span<const double> now,
                    std::span<const double> spread, const Margins& margins) {
  Judgement judgement;
  judgement.between_runs = true;
  judgement.base = Mean(base);
  judgement.change = Mean(now) - judgement.base;
  judgement.low = judgement.high = judgement.change;
  judgement.effect_min = margins.effect_min;
  judgement.reason = margins.unfit;
  if (!judgement.reason.empty()) return judgement;
  const size_t groups = spread.empty() ? 2 : 3;
  const size_t runs = base.size() + now.size() + spread.size();
  if (base.empty() || now.empty() || runs <= groups) {
    judgement.reason = "two runs that are alike are needed";
    return judgement;
  }
  if (AreEqual(base) && AreEqual(now) && AreEqual(spread)) {
    judgement.reason = "runs that are alike do not differ at all: their noise is not known";
    return judgement;
  }
  const auto degrees = static_cast<double>(runs - groups);
  const double scale = Mean(spread) > 0 ? judgement.base / Mean(spread) : 1;
  const double variance =
      (SquaresAroundMean(base, 1) + SquaresAroundMean(now, 1) + SquaresAroundMean(spread, scale)) /
      degrees;
  const double error = std::sqrt(
      variance * (1 / static_cast<double>(base.size()) + 1 / static_cast<double>(now.size())));
  const double half = StudentQuantile95(degrees) * error;
  judgement.low -= half;
  judgement.high += half;
  judgement.margin = margins.effect_min;
  if (LeastRankTestP(base.size(), now.size()) < kSignificant) {
    judgement.p = RankTestP(base, now);
  } else {
    judgement.p = StudentP(judgement.change / error, degrees);
  }
  Decide(judgement);
  return judgement;
}

}  // namespace tracedb
