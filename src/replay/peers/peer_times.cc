#include "replay/peers/peer_times.h"

#include <algorithm>
#include <limits>

#include "tracedb/base/interval.h"

namespace tracedb {

int64_t MeanNs(const std::vector<int64_t>& times_ns) {
  if (times_ns.empty()) return 0;
  const auto count = static_cast<int64_t>(times_ns.size());
  int64_t sum_ns = count / 2;
  for (const int64_t time_ns : times_ns) sum_ns = SumNs(sum_ns, time_ns);
  return sum_ns / count;
}

int64_t MedianNs(std::vector<int64_t> times_ns) {
  if (times_ns.empty()) return 0;
  const auto middle = times_ns.begin() + static_cast<std::ptrdiff_t>(times_ns.size() / 2);
  std::nth_element(times_ns.begin(), middle, times_ns.end());
  if (times_ns.size() % 2 == 1) return *middle;
  const int64_t below = *std::max_element(times_ns.begin(), middle);
  return below + (*middle - below) / 2;
}

int64_t LowerMedianNs(std::vector<int64_t> times_ns) {
  if (times_ns.empty()) return 0;
  const auto middle = times_ns.begin() + static_cast<std::ptrdiff_t>((times_ns.size() - 1) / 2);
  std::nth_element(times_ns.begin(), middle, times_ns.end());
  return *middle;
}

int64_t ShareNs(int64_t ns, Wide part, Wide whole) {
  // Sums out of hostile traces: the product has to fit.
  for (; whole > std::numeric_limits<int64_t>::max(); whole /= 2) part /= 2;
  return static_cast<int64_t>(ns * part / whole);
}

}  // namespace tracedb
