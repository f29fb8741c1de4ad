#include "ranks/clocks/graph_solve.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace tracedb {
namespace {

constexpr double kSquaresUpTo = 1.5;  // sigmas
constexpr int kRoundsMax = 200;
constexpr double kSettled = 1e-3;  // sigmas that nothing moves by any more

// The normal equations of weighted edges: a Laplacian without the rows of the nodes that are 0.
class NormalEquations {
 public:
  NormalEquations(const std::vector<MeasuredEdge>& edges, const std::vector<double>& weights,
                  const std::vector<size_t>& lowest)
      : edges_(edges), weights_(weights), lowest_(lowest), diagonal_(lowest.size(), 0) {
    for (size_t i = 0; i < edges.size(); ++i) {
      diagonal_[edges[i].from] += weights[i];
      diagonal_[edges[i].to] += weights[i];
    }
  }

  std::vector<double> RightSide(const std::vector<double>& residuals) const {
    std::vector<double> right(lowest_.size(), 0);
    for (size_t i = 0; i < edges_.size(); ++i) {
      right[edges_[i].to] += weights_[i] * residuals[i];
      right[edges_[i].from] -= weights_[i] * residuals[i];
    }
    Pin(right);
    return right;
  }

  // Conjugate gradients, scaled by the diagonal.
  std::vector<double> Solve(std::vector<double> rest) const {
    std::vector<double> values(rest.size(), 0);
    std::vector<double> scaled = Scaled(rest);
    std::vector<double> direction = scaled;
    double product = Dot(rest, scaled);
    const double enough = product * 1e-24;
    for (size_t step = 0; step < 4 * rest.size() + 16 && product > enough; ++step) {
      const std::vector<double> image = Times(direction);
      const double along = product / Dot(direction, image);
      for (size_t i = 0; i < rest.size(); ++i) {
        values[i] += along * direction[i];
        rest[i] -= along * image[i];
      }
      scaled = Scaled(rest);
      const double next = Dot(rest, scaled);
      for (size_t i = 0; i < rest.size(); ++i) {
        direction[i] = scaled[i] + next / product * direction[i];
      }
      product = next;
    }
    return values;
  }

 private:
  static double Dot(const std::vector<double>& a, const std::vector<double>& b) {
    return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
  }
  void Pin(std::vector<double>& values) const {
    for (size_t i = 0; i < values.size(); ++i) {
      if (lowest_[i] == i) values[i] = 0;
    }
  }
  std::vector<double> Scaled(const std::vector<double>& values) const {
    std::vector<double> scaled(values.size(), 0);
    for (size_t i = 0; i < values.size(); ++i) {
      if (lowest_[i] != i) scaled[i] = values[i] / diagonal_[i];
    }
    return scaled;
  }
  std::vector<double> Times(const std::vector<double>& values) const {
    std::vector<double> image(values.size(), 0);
    for (size_t i = 0; i < edges_.size(); ++i) {
      const double flow = weights_[i] * (values[edges_[i].to] - values[edges_[i].from]);
      image[edges_[i].to] += flow;
      image[edges_[i].from] -= flow;
    }
    Pin(image);
    return image;
  }

  const std::vector<MeasuredEdge>& edges_;
  const std::vector<double>& weights_;
  const std::vector<size_t>& lowest_;
  std::vector<double> diagonal_;
};

// Kruskal: the edges that are known best and leave no circle.
std::vector<double> ValuesOfTree(size_t nodes, const std::vector<MeasuredEdge>& edges) {
  std::vector<size_t> order(edges.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&edges](size_t a, size_t b) { return edges[a].sigma < edges[b].sigma; });
  std::vector<std::vector<size_t>> tree(nodes);  // edges at each node
  std::vector<size_t> group(nodes);
  std::iota(group.begin(), group.end(), size_t{0});
  const auto group_of = [&group](size_t node) {
    while (group[node] != node) node = group[node] = group[group[node]];
    return node;
  };
  for (const size_t i : order) {
    const size_t from = group_of(edges[i].from);
    const size_t to = group_of(edges[i].to);
    if (from == to) continue;
    group[std::max(from, to)] = std::min(from, to);
    tree[edges[i].from].push_back(i);
    tree[edges[i].to].push_back(i);
  }
  std::vector<double> values(nodes, 0);
  std::vector<bool> known(nodes, false);
  std::vector<size_t> stack;
  for (size_t root = 0; root < nodes; ++root) {
    if (known[root]) continue;
    known[root] = true;
    for (stack.assign(1, root); !stack.empty();) {
      const size_t node = stack.back();
      stack.pop_back();
      for (const size_t i : tree[node]) {
        const bool forward = edges[i].from == node;
        const size_t next = forward ? edges[i].to : edges[i].from;
        if (known[next]) continue;
        known[next] = true;
        values[next] = values[node] + (forward ? edges[i].value : -edges[i].value);
        stack.push_back(next);
      }
    }
  }
  return values;
}

}  // namespace

std::vector<size_t> LowestConnected(size_t nodes, const std::vector<MeasuredEdge>& edges) {
  std::vector<size_t> lowest(nodes);
  std::iota(lowest.begin(), lowest.end(), size_t{0});
  const auto lowest_of = [&lowest](size_t node) {
    while (lowest[node] != node) node = lowest[node] = lowest[lowest[node]];
    return node;
  };
  for (const MeasuredEdge& edge : edges) {
    const size_t from = lowest_of(edge.from);
    const size_t to = lowest_of(edge.to);
    lowest[std::max(from, to)] = std::min(from, to);
  }
  for (size_t node = 0; node < nodes; ++node) lowest[node] = lowest_of(node);
  return lowest;
}

std::vector<double> SolveGraph(size_t nodes, const std::vector<MeasuredEdge>& edges) {
  std::vector<double> values = ValuesOfTree(nodes, edges);
  const std::vector<size_t> lowest = LowestConnected(nodes, edges);
  std::vector<double> residuals(edges.size());
  std::vector<double> weights(edges.size());
  for (int round = 0; round < kRoundsMax; ++round) {
    double sigma_least = 0;
    for (size_t i = 0; i < edges.size(); ++i) {
      const MeasuredEdge& edge = edges[i];
      residuals[i] = edge.value - (values[edge.to] - values[edge.from]);
      const double sigmas = std::abs(residuals[i]) / edge.sigma;
      weights[i] =
          std::min(1.0, kSquaresUpTo / std::max(sigmas, kSquaresUpTo)) / (edge.sigma * edge.sigma);
      sigma_least = i == 0 ? edge.sigma : std::min(sigma_least, edge.sigma);
    }
    const NormalEquations equations(edges, weights, lowest);
    const std::vector<double> change = equations.Solve(equations.RightSide(residuals));
    double moved = 0;
    for (size_t node = 0; node < nodes; ++node) {
      values[node] += change[node];
      moved = std::max(moved, std::abs(change[node]));
    }
    if (moved <= kSettled * sigma_least) break;
  }
  return values;
}

}  // namespace tracedb
