#include "ranks/clocks/clock_graph.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <utility>

#include "ranks/clocks/graph_solve.h"

namespace tracedb {
namespace {

constexpr int kRounds = 2;        // offsets depend on drifts, and a little the other way round
constexpr double kFloorNs = 2e3;  // what differs between two GPUs that leave together

double SigmaOf(const DifferenceFit& fit) {
  return 1.5 * fit.spread / std::sqrt(static_cast<double>(fit.count)) + kFloorNs;
}

// The end of one difference on both sides.
std::pair<int64_t, int64_t> EndsOf(const EndDifference& difference, bool is_swapped) {
  const std::pair<int64_t, int64_t> ends(difference.at_ns, difference.at_ns + difference.by_ns);
  return is_swapped ? std::pair(ends.second, ends.first) : ends;
}

std::optional<std::pair<int64_t, int64_t>> AnyEnds(const NodePair& pair) {
  for (const NodePair::Part& part : pair.parts) {
    for (const EvenSample& sample : part.pair->ends) {
      if (!sample.kept().empty()) return EndsOf(sample.kept()[0], part.is_swapped);
    }
  }
  return std::nullopt;
}

// How the raw times compare. Far apart as they may be, what is fitted is near 0.
std::vector<MeasuredEdge> RawEdges(const std::vector<NodePair>& pairs) {
  std::vector<MeasuredEdge> edges;
  for (const NodePair& pair : pairs) {
    const auto ends = AnyEnds(pair);
    if (!ends.has_value() || pair.first == pair.second) continue;
    NodeClock first;
    NodeClock second;
    first.middle_ns = second.middle_ns = ends->first;
    second.offset_ns = ends->first - ends->second;
    const auto fit = FitDifferences(Remaining(pair, first, second));
    if (!fit.has_value()) continue;
    const double apart = static_cast<double>(ends->second - ends->first);
    edges.push_back({pair.first, pair.second, apart + fit->value, SigmaOf(*fit)});
  }
  return edges;
}

// The middle of all the ends that a part of the graph knows.
void FindMiddles(const std::vector<NodePair>& pairs, std::vector<NodeClock>& clocks) {
  struct Range {
    int64_t least;
    int64_t most;
  };
  std::map<size_t, Range> ranges;  // by reference
  for (const NodePair& pair : pairs) {
    const NodeClock& clock = clocks[pair.first];
    for (const NodePair::Part& part : pair.parts) {
      for (const EvenSample& sample : part.pair->ends) {
        for (const EndDifference& difference : sample.kept()) {
          const int64_t at = EndsOf(difference, part.is_swapped).first + clock.offset_ns;
          Range& range = ranges.try_emplace(clock.reference, Range{at, at}).first->second;
          range.least = std::min(range.least, at);
          range.most = std::max(range.most, at);
        }
      }
    }
  }
  for (NodeClock& clock : clocks) {
    const auto range = ranges.find(clock.reference);
    if (range == ranges.end()) continue;
    const int64_t half = (range->second.most - range->second.least) / 2;
    clock.middle_ns = range->second.least + half;
    clock.reach_ns = static_cast<double>(half);
  }
}

void CorrectDrifts(const std::vector<NodePair>& pairs, std::vector<NodeClock>& clocks) {
  std::vector<MeasuredEdge> edges;
  for (const NodePair& pair : pairs) {
    if (pair.first == pair.second) continue;
    const auto fit = FitDifferences(Remaining(pair, clocks[pair.first], clocks[pair.second]));
    if (!fit.has_value() || fit->slope_sigma <= 0) continue;
    edges.push_back({pair.first, pair.second, fit->slope, fit->slope_sigma});
  }
  const std::vector<double> ahead = SolveGraph(clocks.size(), edges);
  for (size_t node = 0; node < clocks.size(); ++node) {
    clocks[node].drift = (1 + clocks[node].drift) / (1 + ahead[node]) - 1;
  }
}

void CorrectOffsets(const std::vector<NodePair>& pairs, std::vector<NodeClock>& clocks) {
  std::vector<MeasuredEdge> edges;
  for (const NodePair& pair : pairs) {
    if (pair.first == pair.second) continue;
    const auto fit = FitDifferences(Remaining(pair, clocks[pair.first], clocks[pair.second]));
    if (!fit.has_value()) continue;
    edges.push_back({pair.first, pair.second, fit->value, SigmaOf(*fit)});
  }
  const std::vector<double> ahead = SolveGraph(clocks.size(), edges);
  for (size_t node = 0; node < clocks.size(); ++node) {
    clocks[node].offset_ns -= std::llround(ahead[node] / (1 + clocks[node].drift));
  }
}

}  // namespace

double NodeClock::LargestNs() const { return LargestDifferenceNs(*this, {}); }

double LargestDifferenceNs(const NodeClock& one, const NodeClock& other) {
  const double apart = static_cast<double>(one.offset_ns) - static_cast<double>(other.offset_ns);
  const double drifted = (one.drift - other.drift) * std::max(one.reach_ns, other.reach_ns);
  return std::abs(apart) + std::abs(drifted);
}

std::vector<NodePair> PairsOfNodes(const std::vector<RankPair>& pairs,
                                   const std::vector<size_t>& node_of_rank) {
  std::map<std::pair<size_t, size_t>, NodePair> of_nodes;
  for (const RankPair& pair : pairs) {
    const size_t first = node_of_rank[static_cast<size_t>(pair.first)];
    const size_t second = node_of_rank[static_cast<size_t>(pair.second)];
    const auto [lower, higher] = std::minmax(first, second);
    NodePair& found = of_nodes[{lower, higher}];
    found.first = lower;
    found.second = higher;
    found.parts.push_back({&pair, second < first});
  }
  std::vector<NodePair> sorted;
  for (auto& [nodes, pair] : of_nodes) sorted.push_back(std::move(pair));
  return sorted;
}

TimedDifferences Remaining(const NodePair& pair, const NodeClock& first, const NodeClock& second) {
  constexpr std::array<EndKind, kEndKinds> kSwapped = {EndKind::kTogether, EndKind::kSecondSends,
                                                       EndKind::kFirstSends};
  TimedDifferences remaining;
  for (const NodePair::Part& part : pair.parts) {
    for (size_t kind = 0; kind < kEndKinds; ++kind) {
      auto& points = remaining.of(part.is_swapped ? kSwapped[kind] : static_cast<EndKind>(kind));
      for (const EndDifference& difference : part.pair->ends[kind].kept()) {
        const auto [end, other_end] = EndsOf(difference, part.is_swapped);
        const double at = first.FromMiddle(end);
        points.push_back({at, second.FromMiddle(other_end) - at});
      }
    }
  }
  return remaining;
}

std::vector<NodeClock> AlignNodes(size_t nodes, const std::vector<NodePair>& pairs) {
  std::vector<NodeClock> clocks(nodes);
  const std::vector<MeasuredEdge> edges = RawEdges(pairs);
  const std::vector<size_t> lowest = LowestConnected(nodes, edges);
  const std::vector<double> ahead = SolveGraph(nodes, edges);
  for (size_t node = 0; node < nodes; ++node) {
    clocks[node].reference = lowest[node];
    clocks[node].offset_ns = -std::llround(ahead[node]);
    if (lowest[node] != node) clocks[node].is_compared = clocks[lowest[node]].is_compared = true;
  }
  FindMiddles(pairs, clocks);
  for (int round = 0; round < kRounds; ++round) {
    CorrectDrifts(pairs, clocks);
    CorrectOffsets(pairs, clocks);
  }
  return clocks;
}

}  // namespace tracedb
