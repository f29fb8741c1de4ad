// Clocks and the differences between them, aligned as a whole.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "ranks/clocks/difference_fit.h"
#include "ranks/clocks/end_differences.h"

namespace tracedb {

// Turns a clock's times into aligned ones: middle + (ts + offset - middle) * (1 + drift).
struct NodeClock {
  size_t reference = 0;   // lowest node that it was compared with, over any number of others
  int64_t offset_ns = 0;  // in the middle of the time in which collectives ended
  double drift = 0;
  int64_t middle_ns = 0;  // that middle, aligned
  double reach_ns = 0;    // from there to both ends
  bool is_compared = false;

  double FromMiddle(int64_t ts_ns) const {
    return static_cast<double>(ts_ns + offset_ns - middle_ns) * (1 + drift);
  }
  // The largest correction between both ends.
  double LargestNs() const;
};

// The most that two clocks' corrections differ by between both ends.
double LargestDifferenceNs(const NodeClock& one, const NodeClock& other);

// All that is known of two clocks. `first` may be `second`: ranks of one host.
struct NodePair {
  struct Part {
    const RankPair* pair;
    bool is_swapped;  // the pair's first rank is of the second node
  };
  size_t first = 0;
  size_t second = 0;
  std::vector<Part> parts;
};

// Pairs of ranks as pairs of the nodes they belong to, sorted.
std::vector<NodePair> PairsOfNodes(const std::vector<RankPair>& pairs,
                                   const std::vector<size_t>& node_of_rank);

// What is left between the two clocks; over the time from their middle.
TimedDifferences Remaining(const NodePair& pair, const NodeClock& first, const NodeClock& second);

std::vector<NodeClock> AlignNodes(size_t nodes, const std::vector<NodePair>& pairs);

}  // namespace tracedb
