// SortedRuns: any order in, the one order out, with one run or more than may be open.

#include "tracedb/memory/sorted_runs.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <random>

namespace tracedb {
namespace {

struct RunRow {
  int64_t ts, dur, id, table;

  bool operator==(const RunRow&) const = default;
};
using Runs = SortedRuns<RunRow>;

std::shared_ptr<PackedSpace> Space(size_t bytes_max) {
  return std::make_shared<PackedSpace>(std::filesystem::temp_directory_path(), bytes_max);
}

std::vector<RunRow> ReadAll(const Runs& runs) {
  std::vector<RunRow> rows;
  Runs::Reader reader(runs);
  for (; reader.row() != nullptr; reader.Next()) rows.push_back(*reader.row());
  EXPECT_TRUE(reader.status().ok());
  return rows;
}

// Adds the rows and reads them back.
std::vector<RunRow> Through(const std::vector<RunRow>& rows, size_t bytes_max) {
  Runs runs(Space(bytes_max));
  for (const RunRow& row : rows) EXPECT_TRUE(runs.Add(row).ok());
  EXPECT_TRUE(runs.Finish().ok());
  return ReadAll(runs);
}

std::vector<RunRow> Sorted(std::vector<RunRow> rows) {
  std::sort(rows.begin(), rows.end(), ComesBefore<RunRow, RunRow>);
  return rows;
}

TEST(SortedRuns, nothing) { EXPECT_TRUE(Through({}, 1 << 20).empty()); }

TEST(SortedRuns, the_longer_first_then_the_id) {
  const std::vector<RunRow> rows = {{5, 1, 1, 0}, {5, 9, 3, 0}, {5, 9, 2, 0}, {4, 0, 4, 7}};
  const std::vector<RunRow> wanted = {{4, 0, 4, 7}, {5, 9, 2, 0}, {5, 9, 3, 0}, {5, 1, 1, 0}};
  EXPECT_EQ(Through(rows, 1 << 20), wanted);
}

TEST(SortedRuns, several_tables_one_after_the_other) {
  std::vector<RunRow> rows;
  for (int64_t table = 0; table < 3; ++table) {
    for (int64_t i = 0; i < 30'000; ++i) rows.push_back({10 * i + table, i % 7, i, table});
  }
  EXPECT_EQ(Through(rows, 1 << 20), Sorted(rows));
}

// 75 lots that all overlap: more than may be open at once, so that they are merged meanwhile; in
// memory, and in a file.
TEST(SortedRuns, no_order_at_all) {
  std::mt19937_64 random(7);
  std::vector<RunRow> rows;
  for (int64_t i = 0; i < 75 * 8192 + 5; ++i) {
    const auto pick = [&random](uint64_t bound) { return static_cast<int64_t>(random() % bound); };
    rows.push_back({pick(100'000) - 50'000, pick(50), i, pick(3)});
  }
  const std::vector<RunRow> wanted = Sorted(rows);
  EXPECT_EQ(Through(rows, 64 << 20), wanted);
  EXPECT_EQ(Through(rows, 0), wanted);
}

// Threads that take turns, each in order: fewer and more of them than runs that rows go to one by
// one, and with some rows that come late.
TEST(SortedRuns, threads_in_turn) {
  std::mt19937_64 random(11);
  for (const int64_t threads : {2, 5, 16, 17, 40, 100}) {
    for (const uint64_t late : {uint64_t{0}, uint64_t{50}}) {
      std::vector<RunRow> rows;
      std::vector<int64_t> at(static_cast<size_t>(threads));
      for (int64_t i = 0; i < 60'000; ++i) {
        const size_t thread = random() % at.size();
        at[thread] += static_cast<int64_t>(random() % 100);
        const auto first = static_cast<int64_t>(thread) * 1'000'000;  // each beyond the one before
        const int64_t back = late > 0 && random() % late == 0 ? 1000 : 0;
        rows.push_back({first + at[thread] - back, 1, i, 0});
      }
      const std::vector<RunRow> wanted = Sorted(rows);
      EXPECT_EQ(Through(rows, 64 << 20), wanted) << threads;
      EXPECT_EQ(Through(rows, 0), wanted) << threads;
      for (RunRow& row : rows) row.ts %= 1'000'000;  // all at the same time
      EXPECT_EQ(Through(rows, 64 << 20), Sorted(rows)) << threads;
    }
  }
}

// Then nothing is sorted: each thread is a run of its own.
TEST(SortedRuns, a_thread_a_run) {
  for (const size_t threads : {size_t{1}, size_t{2}, size_t{16}}) {
    Runs runs(Space(1 << 20));
    for (int64_t i = 0; i < 50'000; ++i) {
      const int64_t thread = i * 7 % static_cast<int64_t>(threads);
      ASSERT_TRUE(runs.Add({thread * 1'000'000 + i, 1, i, 0}).ok());
    }
    ASSERT_TRUE(runs.Finish().ok());
    EXPECT_EQ(runs.runs(), threads);
  }
}

TEST(SortedRuns, backwards) {
  std::vector<RunRow> rows;
  for (int64_t i = 0; i < 500'000; ++i) rows.push_back({-i, 1, i, 0});
  EXPECT_EQ(Through(rows, 1 << 20), Sorted(rows));
}

TEST(SortedRuns, the_ends_of_64_bits) {
  constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  const std::vector<RunRow> rows = {
      {kMost, 0, 1, kLeast}, {kLeast, kMost, 2, kMost}, {0, kMost, 3, 0}, {kLeast, 0, 4, kMost}};
  EXPECT_EQ(Through(rows, 1 << 20), Sorted(rows));
}

}  // namespace
}  // namespace tracedb
