// From differences of ends to one clock a host.
//
// The parts of a collective end at about the same time. Those of ranks 0 and 8, on two hosts, ended
// 5.0 ms apart in one, 5.1 in the next, 5.0 in a third: host 1 is about 5 ms ahead. Between hosts 1
// and 2 it is 2 ms, between 0 and 2 it is 7.1: the offsets that leave the least of all three over
// are the clocks' (0, 5.03, 7.07). Where ends drift apart as time passes, a clock runs faster.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ranks/clocks/end_differences.h"

namespace tracedb {

// A correction below this is left out: then times stay as the trace has them.
inline constexpr double kOffsetMinNs = 50e3;

struct RankHost {
  int64_t trace_id = 0;  // that the rank has in the capture
  int64_t rank = 0;
  std::optional<std::string> host;
};

// aligned = ts + offset_ns + (ts - origin_ns) * drift_ppb / 10^9.
struct SolvedClock {
  bool is_compared = false;  // the rest is known only then
  std::string name;          // of the clock: its host's, or its own
  int64_t reference_rank =
      0;  // the lowest rank that it was compared with, over any number of others
  int64_t offset_ns = 0;
  int64_t drift_ppb = 0;
  int64_t origin_ns = 0;
  int64_t residual_p95_ns = 0;  // how well it agrees with the clocks that it was compared with
};

struct ClockPair {
  std::string first;
  std::string second;
  int64_t collectives = 0;  // once for each two ranks that were compared
  int64_t residual_p50_ns = 0;
  int64_t residual_p95_ns = 0;
};

struct ClockSolution {
  std::vector<SolvedClock> ranks;  // as they were given
  std::vector<ClockPair> pairs;    // sorted by the clocks' lowest ranks
};

// `ranks` are sorted by rank; the pairs hold places in it. Ranks of one host have one clock, unless
// the data contradict it.
ClockSolution SolveClocks(const std::vector<RankHost>& ranks, const std::vector<RankPair>& pairs);

}  // namespace tracedb
