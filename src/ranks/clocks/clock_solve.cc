#include "ranks/clocks/clock_solve.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "ranks/clocks/clock_graph.h"

namespace tracedb {
namespace {

constexpr double kResidualsMin = 3;  // a correction is larger than so many 95th percentiles

// How well each node agrees with the others: the middle one of its pairs' 95th percentiles.
std::vector<double> NoiseOfNodes(const std::vector<NodePair>& pairs,
                                 const std::vector<NodeClock>& clocks) {
  std::vector<std::vector<double>> of_pairs(clocks.size());
  for (const NodePair& pair : pairs) {
    if (pair.first == pair.second) continue;
    std::vector<double> residuals;
    AppendResiduals(Remaining(pair, clocks[pair.first], clocks[pair.second]), residuals);
    if (residuals.size() < kDifferencesMin / 2) continue;
    const double noise = Quantile(residuals, 0.95);
    of_pairs[pair.first].push_back(noise);
    of_pairs[pair.second].push_back(noise);
  }
  std::vector<double> noise;
  for (std::vector<double>& some : of_pairs)
    noise.push_back(some.empty() ? 0 : Quantile(some, 0.5));
  return noise;
}

bool IsClear(double correction_ns, double noise_ns) {
  return correction_ns >= kOffsetMinNs && correction_ns >= kResidualsMin * noise_ns;
}

// For each rank its node, numbered by their lowest ranks. Those of one host whose clocks agree are
// one node; so are those of it that nothing compares with the others.
std::vector<size_t> NodesOfRanks(const std::vector<RankHost>& ranks,
                                 const std::vector<NodeClock>& clocks,
                                 const std::vector<double>& noise) {
  std::map<std::string, std::vector<size_t>> hosts;
  for (size_t i = 0; i < ranks.size(); ++i) {
    if (ranks[i].host.has_value()) hosts[*ranks[i].host].push_back(i);
  }
  const auto is_apart = [&](size_t one, size_t other) {
    return clocks[one].reference == clocks[other].reference &&
           IsClear(LargestDifferenceNs(clocks[one], clocks[other]),
                   std::max(noise[one], noise[other]));
  };
  std::vector<size_t> leaders(ranks.size());
  std::iota(leaders.begin(), leaders.end(), size_t{0});
  for (const auto& [host, members] : hosts) {
    size_t leader = members[0];
    size_t most = 0;
    for (const size_t one : members) {
      const auto agreeing = static_cast<size_t>(std::count_if(
          members.begin(), members.end(), [&](size_t other) { return !is_apart(one, other); }));
      if (agreeing > most) leader = one;
      most = std::max(most, agreeing);
    }
    for (const size_t one : members) {
      if (!is_apart(one, leader)) leaders[one] = leader;
    }
  }
  std::map<size_t, size_t> node_of_leader;
  std::vector<size_t> nodes;
  for (const size_t leader : leaders) {
    nodes.push_back(node_of_leader.try_emplace(leader, node_of_leader.size()).first->second);
  }
  return nodes;
}

// Clocks whose correction is not clearly one have none.
void LeaveOutSmall(const std::vector<NodePair>& pairs, std::vector<NodeClock>& clocks) {
  const std::vector<double> noise = NoiseOfNodes(pairs, clocks);
  for (size_t node = 0; node < clocks.size(); ++node) {
    NodeClock& clock = clocks[node];
    if (!IsClear(clock.LargestNs(), noise[node])) {
      clock.offset_ns = 0;
      clock.drift = 0;
    }
    clock.drift = std::round(clock.drift * 1e9) / 1e9;  // as it is stored
  }
}

std::vector<std::string> NamesOfNodes(const std::vector<RankHost>& ranks,
                                      const std::vector<size_t>& node_of_rank) {
  std::vector<std::string> names(ranks.size());
  std::map<std::string, size_t> members;
  std::map<std::string, std::map<size_t, size_t>> members_of_node;
  for (size_t i = 0; i < ranks.size(); ++i) {
    if (ranks[i].host.has_value()) ++members_of_node[*ranks[i].host][node_of_rank[i]];
  }
  // The largest clock of a host has its name, the others their rank's beside it.
  for (size_t i = 0; i < ranks.size(); ++i) {
    std::string& name = names[node_of_rank[i]];
    if (!name.empty()) continue;
    name = "rank " + std::to_string(ranks[i].rank);
    if (!ranks[i].host.has_value()) continue;
    const auto& nodes = members_of_node[*ranks[i].host];
    const auto largest =
        std::max_element(nodes.begin(), nodes.end(),
                         [](const auto& a, const auto& b) { return a.second < b.second; });
    name = largest->first == node_of_rank[i] ? *ranks[i].host : *ranks[i].host + " " + name;
  }
  return names;
}

int64_t Rounded(double ns) { return std::llround(ns); }

// Residuals of each pair of clocks, and of each clock over its pairs with others.
void AddResiduals(const std::vector<NodePair>& pairs, const std::vector<NodeClock>& clocks,
                  const std::vector<std::string>& names, std::vector<double>& p95_of_nodes,
                  ClockSolution& solution) {
  std::vector<std::vector<double>> among_others(clocks.size());
  std::vector<std::vector<double>> within(clocks.size());
  for (const NodePair& pair : pairs) {
    if (clocks[pair.first].reference != clocks[pair.second].reference) continue;
    std::vector<double> residuals;
    AppendResiduals(Remaining(pair, clocks[pair.first], clocks[pair.second]), residuals);
    if (residuals.empty()) continue;
    auto& of_nodes = pair.first == pair.second ? within : among_others;
    for (const size_t node : {pair.first, pair.second}) {
      of_nodes[node].insert(of_nodes[node].end(), residuals.begin(), residuals.end());
    }
    ClockPair& known = solution.pairs.emplace_back();
    known.first = names[pair.first];
    known.second = names[pair.second];
    for (const NodePair::Part& part : pair.parts) known.collectives += part.pair->Seen();
    known.residual_p50_ns = Rounded(Quantile(residuals, 0.5));
    known.residual_p95_ns = Rounded(Quantile(residuals, 0.95));
  }
  for (size_t node = 0; node < clocks.size(); ++node) {
    auto& residuals = among_others[node].empty() ? within[node] : among_others[node];
    p95_of_nodes.push_back(residuals.empty() ? 0 : Quantile(residuals, 0.95));
  }
}

}  // namespace

ClockSolution SolveClocks(const std::vector<RankHost>& ranks, const std::vector<RankPair>& pairs) {
  std::vector<size_t> node_of_rank(ranks.size());
  std::iota(node_of_rank.begin(), node_of_rank.end(), size_t{0});
  std::vector<NodePair> of_nodes = PairsOfNodes(pairs, node_of_rank);
  std::vector<NodeClock> clocks = AlignNodes(ranks.size(), of_nodes);
  const std::vector<NodeClock> of_ranks = clocks;
  const bool any_host = std::any_of(ranks.begin(), ranks.end(),
                                    [](const RankHost& rank) { return rank.host.has_value(); });
  if (any_host) {
    node_of_rank = NodesOfRanks(ranks, clocks, NoiseOfNodes(of_nodes, clocks));
    of_nodes = PairsOfNodes(pairs, node_of_rank);
    const size_t nodes = *std::max_element(node_of_rank.begin(), node_of_rank.end()) + 1;
    clocks = AlignNodes(nodes, of_nodes);
  }
  LeaveOutSmall(of_nodes, clocks);

  ClockSolution solution;
  const std::vector<std::string> names = NamesOfNodes(ranks, node_of_rank);
  std::vector<double> p95_of_nodes;
  AddResiduals(of_nodes, clocks, names, p95_of_nodes, solution);
  std::vector<int64_t> lowest_rank(clocks.size());
  for (size_t i = ranks.size(); i-- > 0;) lowest_rank[node_of_rank[i]] = ranks[i].rank;
  for (size_t i = 0; i < ranks.size(); ++i) {
    const NodeClock& clock = clocks[node_of_rank[i]];
    SolvedClock& known = solution.ranks.emplace_back();
    known.is_compared = clock.is_compared || of_ranks[i].is_compared;
    known.name = names[node_of_rank[i]];
    known.reference_rank = lowest_rank[clock.reference];
    known.offset_ns = clock.offset_ns;
    known.drift_ppb = Rounded(clock.drift * 1e9);
    known.origin_ns = clock.middle_ns - clock.offset_ns;
    known.residual_p95_ns = Rounded(p95_of_nodes[node_of_rank[i]]);
  }
  return solution;
}

}  // namespace tracedb
