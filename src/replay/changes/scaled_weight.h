// A weight of an edge times a factor.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace tracedb {

inline constexpr int64_t kMostWeightNs = int64_t{1} << 60;

// To the nearest ns, at least 0.
inline int64_t Scaled(int64_t weight_ns, double factor) {
  const double scaled = std::round(static_cast<double>(weight_ns) * factor);
  return static_cast<int64_t>(std::clamp(scaled, 0.0, static_cast<double>(kMostWeightNs)));
}

}  // namespace tracedb
