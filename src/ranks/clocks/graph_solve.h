// Values of the nodes of a graph from measured differences along its edges, some of which are
// wrong.
#pragma once

#include <cstddef>
#include <vector>

namespace tracedb {

struct MeasuredEdge {
  size_t from = 0;
  size_t to = 0;
  double value = 0;  // of `to`, less that of `from`
  double sigma = 1;  // how well it is known; above 0
};

// For each node the lowest node that it is connected with.
std::vector<size_t> LowestConnected(size_t nodes, const std::vector<MeasuredEdge>& edges);

// The lowest node of each connected part has the value 0, the others what fits the edges best:
// squares for edges that fit, absolute values for those that do not (Huber), so that an edge that
// is far off pulls no more than one that is a little off. The same input gives the same output.
std::vector<double> SolveGraph(size_t nodes, const std::vector<MeasuredEdge>& edges);

}  // namespace tracedb
