// A stretch of time, in integer nanoseconds of some clock: from start_ns up to, and without,
// end_ns.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

namespace tracedb {

// Of times that no clock has shown, out of a hostile trace or a damaged database, sums and
// differences stop where numbers end.
inline int64_t SumNs(int64_t a, int64_t b) {
  int64_t sum = 0;
  if (!__builtin_add_overflow(a, b, &sum)) return sum;
  return a < 0 ? std::numeric_limits<int64_t>::min() : std::numeric_limits<int64_t>::max();
}
inline int64_t DifferenceNs(int64_t a, int64_t b) {
  int64_t difference = 0;
  if (!__builtin_sub_overflow(a, b, &difference)) return difference;
  return a < 0 ? std::numeric_limits<int64_t>::min() : std::numeric_limits<int64_t>::max();
}

struct Interval {
  int64_t start_ns = 0;
  int64_t end_ns = 0;

  int64_t length() const { return DifferenceNs(end_ns, start_ns); }
  // What both have; of a negative length where they are apart.
  Interval Intersection(const Interval& other) const {
    return {std::max(start_ns, other.start_ns), std::min(end_ns, other.end_ns)};
  }
  // The shortest one that holds both.
  Interval Hull(const Interval& other) const {
    return {std::min(start_ns, other.start_ns), std::max(end_ns, other.end_ns)};
  }
};

}  // namespace tracedb
