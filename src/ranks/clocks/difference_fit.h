// How far apart two clocks are and how fast they drift, from the ends of collectives: medians, as
// some ends are far off (a rank that was interrupted, a send that went into a buffer).
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <vector>

#include "ranks/clocks/end_differences.h"

namespace tracedb {

struct TimedValue {
  double at = 0;  // ns; the fit is for at = 0
  double value = 0;
};

struct TimedDifferences {
  std::array<std::vector<TimedValue>, kEndKinds> of_kind;

  std::vector<TimedValue>& of(EndKind kind) { return of_kind[static_cast<size_t>(kind)]; }
  const std::vector<TimedValue>& of(EndKind kind) const {
    return of_kind[static_cast<size_t>(kind)];
  }
  // Sends and receives are for those who have nothing better.
  bool AreTogether() const;
};

inline constexpr size_t kDifferencesMin = 8;
inline constexpr double kSpreadMaxNs = 250e3;  // more: these ends are not those of one collective

struct DifferenceFit {
  double value = 0;        // at = 0
  double spread = 0;       // half of the differences are nearer to it than this
  size_t count = 0;        // differences that say it
  double slope = 0;        // of value over at; 0 where a constant says as much
  double slope_sigma = 0;  // how well the slope is known; 0: not at all
};

// Nothing: there are too few, or they do not agree.
std::optional<DifferenceFit> FitDifferences(const TimedDifferences& differences);

// How far the ends are from 0, sends that went into a buffer left aside.
void AppendResiduals(const TimedDifferences& differences, std::vector<double>& residuals);

// The value below which this share lies; reorders. `values` is not empty.
double Quantile(std::vector<double>& values, double share);

}  // namespace tracedb
