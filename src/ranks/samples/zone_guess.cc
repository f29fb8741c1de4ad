#include "ranks/samples/zone_guess.h"

#include <algorithm>
#include <cmath>

namespace tracedb {
namespace {

int64_t FloorDivide(int64_t value, int64_t by) { return value / by - (value % by < 0 ? 1 : 0); }

}  // namespace

void ZoneGuess::Add(int64_t gpu, int64_t local_ns, double load) {
  for (const DeviceLoad& recorded : loads_) {
    if (recorded.device() != gpu) continue;
    const int64_t first =
        std::max(kFirstQuarter, FloorDivide(local_ns - recorded.end_ns(), kQuarterNs));
    const int64_t last =
        std::min(kLastQuarter, FloorDivide(local_ns - recorded.start_ns(), kQuarterNs) + 1);
    for (int64_t quarter = first; quarter <= last; ++quarter) {
      const int64_t at_ns = local_ns - quarter * kQuarterNs;
      auto& fits = fits_[static_cast<size_t>(quarter - kFirstQuarter)];
      for (size_t i = 0; i < kWindows.size(); ++i) {
        const int64_t from_ns = at_ns + kWindows[i].from_ns;
        const int64_t to_ns = at_ns + kWindows[i].to_ns;
        if (from_ns < recorded.start_ns() || to_ns > recorded.end_ns()) continue;
        ++fits[i].samples;
        fits[i].difference += std::abs(load - recorded.BusyShare(from_ns, to_ns));
      }
    }
  }
}

// All zones are compared by the same window: each by its own best one would let chance choose.
std::optional<int64_t> ZoneGuess::OffsetNs() const {
  std::optional<size_t> best, window;
  double least = kDifferenceMax;
  for (size_t i = 0; i < kWindows.size(); ++i) {
    int most = 0;
    for (const auto& fits : fits_) most = std::max(most, fits[i].samples);
    for (size_t quarter = 0; quarter < kQuarters; ++quarter) {
      const Fit& fit = fits_[quarter][i];
      if (fit.samples < kSamplesMin || 2 * fit.samples < most || fit.Mean() > least) continue;
      least = fit.Mean();
      best = quarter;
      window = i;
    }
  }
  if (!best.has_value()) return std::nullopt;
  const Fit& winner = fits_[*best][*window];
  for (size_t quarter = 0; quarter < kQuarters; ++quarter) {
    const Fit& other = fits_[quarter][*window];
    const bool counts = other.samples >= kSamplesMin && 4 * other.samples >= winner.samples;
    if (quarter != *best && counts && other.Mean() < least + kLeadMin) return std::nullopt;
  }
  return (static_cast<int64_t>(*best) + kFirstQuarter) * kQuarterNs;
}

bool ZoneGuess::SpeaksAgainst(int64_t offset_ns) const {
  const int64_t quarter = offset_ns / kQuarterNs;
  if (quarter < kFirstQuarter || quarter > kLastQuarter) return true;
  bool any = false, fits = false;
  for (const Fit& fit : fits_[static_cast<size_t>(quarter - kFirstQuarter)]) {
    any |= fit.samples > 0;
    fits |= fit.samples > 0 && fit.Mean() <= kDifferenceMax;
  }
  return any && !fits;
}

}  // namespace tracedb
