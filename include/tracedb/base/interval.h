// A stretch of time, in integer nanoseconds of some clock: from start_ns up to, and without,
// end_ns.
#pragma once

#include <algorithm>
#include <cstdint>

namespace tracedb {

struct Interval {
  int64_t start_ns = 0;
  int64_t end_ns = 0;

  int64_t length() const { return end_ns - start_ns; }
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
