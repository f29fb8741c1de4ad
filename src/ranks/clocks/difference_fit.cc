#include "ranks/clocks/difference_fit.h"

#include <algorithm>
#include <cmath>

namespace tracedb {
namespace {

constexpr size_t kBinsMax = 16;
constexpr size_t kBinsMin = 4;
constexpr double kDriftSeenMinNs = 20e3;  // less of it over the capture is not told from noise
constexpr double kDriftMax = 1e-3;        // no clock is worse than that
constexpr double kLineBetter = 0.7;       // spread about the line, of that about the constant
constexpr double kFloorNs = 2e3;          // what differs between two GPUs that leave together
constexpr double kSpreadsNear = 5;  // a receive that ends later waited for a send from a buffer

struct Location {
  double value = 0;
  double spread = 0;
  size_t count = 0;
};

std::vector<double> Detrended(const std::vector<TimedValue>& points, double slope) {
  std::vector<double> values;
  values.reserve(points.size());
  for (const TimedValue& point : points) values.push_back(point.value - slope * point.at);
  return values;
}

double SpreadAbout(double center, std::vector<double> values) {
  for (double& value : values) value = std::abs(value - center);
  return Quantile(values, 0.5);
}

// Ends that should be equal.
Location LocateTogether(const std::vector<TimedValue>& points, double slope) {
  std::vector<double> values = Detrended(points, slope);
  const double center = Quantile(values, 0.5);
  return {center, SpreadAbout(center, values), points.size()};
}

// The receive ends after the send: soon, or long after it when the send went into a buffer. So the
// small ones count. `sign` is -1 where the first rank receives.
Location LocateSends(const std::vector<TimedValue>& points, double slope, double sign) {
  std::vector<double> values = Detrended(points, slope);
  for (double& value : values) value *= sign;
  const double middle = Quantile(values, 0.5);
  std::erase_if(values, [middle](double value) { return value > middle; });
  const double center = Quantile(values, 0.5);
  return {sign * center, SpreadAbout(center, values), values.size()};
}

std::optional<Location> Locate(const TimedDifferences& differences, double slope) {
  if (differences.AreTogether()) {
    return LocateTogether(differences.of(EndKind::kTogether), slope);
  }
  const auto& there = differences.of(EndKind::kFirstSends);
  const auto& back = differences.of(EndKind::kSecondSends);
  if (there.size() + back.size() < kDifferencesMin) return std::nullopt;
  if (back.size() < kDifferencesMin / 2) return LocateSends(there, slope, 1);
  if (there.size() < kDifferencesMin / 2) return LocateSends(back, slope, -1);
  // What a message takes on its way is on both sides of the clocks' difference.
  const Location first = LocateSends(there, slope, 1);
  const Location second = LocateSends(back, slope, -1);
  const double way = std::abs(first.value - second.value) / 2;
  const double spread = std::max(first.spread, second.spread);
  return Location{(first.value + second.value) / 2, way > kSpreadMaxNs ? way : spread,
                  first.count + second.count};
}

// Slopes between bins of differences of one kind that are well apart.
void AppendSlopes(std::vector<TimedValue> points, EndKind kind, std::vector<double>& slopes) {
  const size_t bins = std::min(kBinsMax, points.size() / kDifferencesMin);
  if (bins < kBinsMin) return;
  std::sort(points.begin(), points.end(), [](const TimedValue& a, const TimedValue& b) {
    return a.at < b.at || (a.at == b.at && a.value < b.value);
  });
  std::vector<TimedValue> centers;
  for (size_t bin = 0; bin < bins; ++bin) {
    const auto begin = static_cast<std::ptrdiff_t>(points.size() * bin / bins);
    const auto end = static_cast<std::ptrdiff_t>(points.size() * (bin + 1) / bins);
    const std::vector<TimedValue> part(points.begin() + begin, points.begin() + end);
    const Location location = kind == EndKind::kTogether
                                  ? LocateTogether(part, 0)
                                  : LocateSends(part, 0, kind == EndKind::kFirstSends ? 1 : -1);
    centers.push_back({part[part.size() / 2].at, location.value});
  }
  for (size_t i = 0; i < bins; ++i) {
    for (size_t j = i + (bins + 2) / 3; j < bins; ++j) {
      const double apart = centers[j].at - centers[i].at;
      if (apart > 0) slopes.push_back((centers[j].value - centers[i].value) / apart);
    }
  }
}

double SpanOf(const TimedDifferences& differences) {
  double least = 0;
  double most = 0;
  bool any = false;
  for (const auto& points : differences.of_kind) {
    for (const TimedValue& point : points) {
      least = any ? std::min(least, point.at) : point.at;
      most = any ? std::max(most, point.at) : point.at;
      any = true;
    }
  }
  return most - least;
}

}  // namespace

bool TimedDifferences::AreTogether() const {
  return of(EndKind::kTogether).size() >= kDifferencesMin;
}

double Quantile(std::vector<double>& values, double share) {
  const auto place =
      static_cast<std::ptrdiff_t>(share * static_cast<double>(values.size() - 1) + 0.5);
  std::nth_element(values.begin(), values.begin() + place, values.end());
  return values[static_cast<size_t>(place)];
}

std::optional<DifferenceFit> FitDifferences(const TimedDifferences& differences) {
  const std::optional<Location> constant = Locate(differences, 0);
  if (!constant.has_value()) return std::nullopt;
  DifferenceFit fit{constant->value, constant->spread, constant->count, 0, 0};
  std::vector<double> slopes;
  for (size_t kind = 0; kind < kEndKinds; ++kind) {
    const bool counts = (static_cast<EndKind>(kind) == EndKind::kTogether);
    if (counts != differences.AreTogether()) continue;
    AppendSlopes(differences.of_kind[kind], static_cast<EndKind>(kind), slopes);
  }
  const double span = SpanOf(differences);
  if (!slopes.empty() && span > 0) {
    const double slope = Quantile(slopes, 0.5);
    const Location line = *Locate(differences, slope);
    const bool is_line = std::abs(slope) * span >= kDriftSeenMinNs &&
                         std::abs(slope) <= kDriftMax &&
                         line.spread <= kLineBetter * constant->spread;
    if (is_line) fit = {line.value, line.spread, line.count, slope, 0};
    const double noise = fit.spread / std::sqrt(static_cast<double>(fit.count)) + kFloorNs;
    fit.slope_sigma = 3 * noise / span;
  }
  if (fit.spread > kSpreadMaxNs) return std::nullopt;
  return fit;
}

void AppendResiduals(const TimedDifferences& differences, std::vector<double>& residuals) {
  if (differences.AreTogether()) {
    for (const TimedValue& point : differences.of(EndKind::kTogether)) {
      residuals.push_back(std::abs(point.value));
    }
    return;
  }
  for (const EndKind kind : {EndKind::kFirstSends, EndKind::kSecondSends}) {
    const double sign = kind == EndKind::kFirstSends ? 1 : -1;
    const std::vector<TimedValue>& points = differences.of(kind);
    if (points.empty()) continue;
    const Location sends = LocateSends(points, 0, sign);
    const double most = sign * sends.value + kSpreadsNear * sends.spread + kFloorNs;
    for (const TimedValue& point : points) {
      if (sign * point.value <= most) residuals.push_back(std::abs(point.value));
    }
  }
}

}  // namespace tracedb
