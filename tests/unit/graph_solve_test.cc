// Values of a graph's nodes from differences: exact where they agree, robust where they do not.

#include "ranks/clocks/graph_solve.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace tracedb {
namespace {

std::vector<double> Truth(size_t nodes, std::mt19937& chance) {
  std::uniform_real_distribution<double> value(-1e9, 1e9);
  std::vector<double> truth;
  for (size_t node = 0; node < nodes; ++node) truth.push_back(value(chance));
  return truth;
}

MeasuredEdge Exact(const std::vector<double>& truth, size_t from, size_t to, double sigma) {
  return {from, to, truth[to] - truth[from], sigma};
}

TEST(GraphSolve, no_nodes_and_no_edges) {
  EXPECT_TRUE(SolveGraph(0, {}).empty());
  EXPECT_EQ(SolveGraph(3, {}), std::vector<double>(3, 0));
  EXPECT_EQ(LowestConnected(3, {}), (std::vector<size_t>{0, 1, 2}));
}

TEST(GraphSolve, a_chain_adds_up_in_both_directions) {
  const std::vector<double> values = SolveGraph(4, {{0, 1, 5, 1}, {2, 1, 3, 1}, {2, 3, -7, 2}});
  EXPECT_NEAR(values[1], 5, 1e-6);
  EXPECT_NEAR(values[2], 2, 1e-6);
  EXPECT_NEAR(values[3], -5, 1e-6);
}

TEST(GraphSolve, each_part_begins_at_its_lowest_node) {
  const std::vector<MeasuredEdge> edges = {{4, 2, 10, 1}, {5, 4, 1, 1}, {1, 3, 8, 1}};
  EXPECT_EQ(LowestConnected(6, edges), (std::vector<size_t>{0, 1, 2, 1, 2, 2}));
  const std::vector<double> values = SolveGraph(6, edges);
  EXPECT_EQ(values[0], 0);
  EXPECT_EQ(values[1], 0);
  EXPECT_NEAR(values[3], 8, 1e-6);
  EXPECT_EQ(values[2], 0);
  EXPECT_NEAR(values[4], -10, 1e-6);
  EXPECT_NEAR(values[5], -11, 1e-6);
}

TEST(GraphSolve, a_circle_that_does_not_close_is_shared_out_by_how_well_edges_are_known) {
  // Off by 3 in all: the edge of twice the sigma takes four times as much as the others.
  const std::vector<double> values =
      SolveGraph(3, {{0, 1, 10, 10}, {1, 2, 10, 10}, {2, 0, -17, 20}});
  EXPECT_NEAR(values[1], 9.5, 1e-3);
  EXPECT_NEAR(values[2], 19, 1e-3);
}

TEST(GraphSolve, edges_that_are_far_off_pull_no_more_than_those_a_little_off) {
  std::mt19937 chance(1);
  for (int round = 0; round < 20; ++round) {
    const size_t nodes = 12;
    const std::vector<double> truth = Truth(nodes, chance);
    std::normal_distribution<double> noise(0, 1);
    std::vector<MeasuredEdge> edges;
    for (size_t from = 0; from < nodes; ++from) {
      for (size_t to = from + 1; to < nodes; ++to) {
        edges.push_back(Exact(truth, from, to, 1));
        edges.back().value += noise(chance);
      }
    }
    for (int wrong = 0; wrong < 6; ++wrong) edges[chance() % edges.size()].value += 1e10;
    const std::vector<double> values = SolveGraph(nodes, edges);
    for (size_t node = 0; node < nodes; ++node) {
      EXPECT_NEAR(values[node], truth[node] - truth[0], 6) << "round " << round;
    }
  }
}

TEST(GraphSolve, a_thousand_nodes_in_a_ring_and_the_same_answer_twice) {
  std::mt19937 chance(2);
  const size_t nodes = 1000;
  const std::vector<double> truth = Truth(nodes, chance);
  std::vector<MeasuredEdge> edges;
  for (size_t node = 0; node < nodes; ++node) {
    edges.push_back(Exact(truth, node, (node + 1) % nodes, 1 + static_cast<double>(node % 7)));
  }
  const std::vector<double> values = SolveGraph(nodes, edges);
  for (size_t node = 0; node < nodes; ++node) {
    EXPECT_NEAR(values[node], truth[node] - truth[0], 1);
  }
  EXPECT_EQ(values, SolveGraph(nodes, edges));
}

}  // namespace
}  // namespace tracedb
