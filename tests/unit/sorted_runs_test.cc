// SortedRuns: any order in, the one order out, with one run or more than may be open.

#include "tracedb/memory/sorted_runs.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <random>

namespace tracedb {
namespace {

using Runs = SortedRuns<4>;

std::shared_ptr<PackedSpace> Space(size_t bytes_max) {
  return std::make_shared<PackedSpace>(std::filesystem::temp_directory_path(), bytes_max);
}

std::vector<Runs::Row> ReadAll(const Runs& runs) {
  std::vector<Runs::Row> rows;
  Runs::Reader reader(runs);
  for (; reader.row() != nullptr; reader.Next()) rows.push_back(*reader.row());
  EXPECT_TRUE(reader.status().ok());
  return rows;
}

// Adds the rows and reads them back.
std::vector<Runs::Row> Through(const std::vector<Runs::Row>& rows, size_t bytes_max) {
  Runs runs(Space(bytes_max));
  for (const Runs::Row& row : rows) EXPECT_TRUE(runs.Add(row).ok());
  EXPECT_TRUE(runs.Finish().ok());
  return ReadAll(runs);
}

std::vector<Runs::Row> Sorted(std::vector<Runs::Row> rows) {
  std::sort(rows.begin(), rows.end(), Runs::Before);
  return rows;
}

TEST(SortedRuns, nothing) { EXPECT_TRUE(Through({}, 1 << 20).empty()); }

TEST(SortedRuns, the_longer_first_then_the_id) {
  const std::vector<Runs::Row> rows = {{5, 1, 1, 0}, {5, 9, 3, 0}, {5, 9, 2, 0}, {4, 0, 4, 7}};
  const std::vector<Runs::Row> wanted = {{4, 0, 4, 7}, {5, 9, 2, 0}, {5, 9, 3, 0}, {5, 1, 1, 0}};
  EXPECT_EQ(Through(rows, 1 << 20), wanted);
}

TEST(SortedRuns, several_tables_one_after_the_other) {
  std::vector<Runs::Row> rows;
  for (int64_t table = 0; table < 3; ++table) {
    for (int64_t i = 0; i < 30'000; ++i) rows.push_back({10 * i + table, i % 7, i, table});
  }
  EXPECT_EQ(Through(rows, 1 << 20), Sorted(rows));
}

// 75 lots that all overlap: more than may be open at once, so that they are merged meanwhile; in
// memory, and in a file.
TEST(SortedRuns, no_order_at_all) {
  std::mt19937_64 random(7);
  std::vector<Runs::Row> rows;
  for (int64_t i = 0; i < 75 * 8192 + 5; ++i) {
    const auto pick = [&random](uint64_t bound) { return static_cast<int64_t>(random() % bound); };
    rows.push_back({pick(100'000) - 50'000, pick(50), i, pick(3)});
  }
  const std::vector<Runs::Row> wanted = Sorted(rows);
  EXPECT_EQ(Through(rows, 64 << 20), wanted);
  EXPECT_EQ(Through(rows, 0), wanted);
}

TEST(SortedRuns, backwards) {
  std::vector<Runs::Row> rows;
  for (int64_t i = 0; i < 500'000; ++i) rows.push_back({-i, 1, i, 0});
  EXPECT_EQ(Through(rows, 1 << 20), Sorted(rows));
}

TEST(SortedRuns, the_ends_of_64_bits) {
  constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  const std::vector<Runs::Row> rows = {
      {kMost, 0, 1, kLeast}, {kLeast, kMost, 2, kMost}, {0, kMost, 3, 0}, {kLeast, 0, 4, kMost}};
  EXPECT_EQ(Through(rows, 1 << 20), Sorted(rows));
}

}  // namespace
}  // namespace tracedb
