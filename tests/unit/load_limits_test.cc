// LoadLimits: what all stages may hold together stays below the budget.

#include "tracedb/memory/load_limits.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace tracedb {
namespace {

constexpr size_t kMiB = size_t{1} << 20;
constexpr size_t kProgramBytes = 14 * kMiB;

size_t BytesGathered(const LoadLimits& limits) {
  return limits.gpu_activity_bytes_max + limits.host_slice_bytes_max + limits.long_slice_bytes_max;
}

// While a trace is read: windows and batches go round, 2 a parser and 2 more; a parser has an index
// of 4 bytes for each byte of a window, dictionaries, and layouts within the same bound. One window
// may be as large as the largest event, and its index with it.
size_t BytesWhileReading(const LoadLimits& limits) {
  const size_t rounds = 2 * limits.parsers + 2;
  const size_t windows = (rounds * 2 + limits.parsers * 4) * limits.window_bytes;
  const size_t parsers = 2 * limits.parsers * limits.dictionary_bytes_max;
  const size_t builder = limits.dictionary_bytes_max + limits.open_bytes_max +
                         limits.export_bytes_max + BytesGathered(limits);
  return kProgramBytes + limits.read_ahead_bytes + limits.unpack_bytes_max +
         limits.write_bytes_max + windows + 5 * limits.event_bytes_max + limits.header_bytes_max +
         parsers + builder;
}

// Once the file has been read: what the builder still has, the page cache, the launches, and rows
// in memory. Three sorts run while host slices are read, one while launches are looked up; those of
// collectives, two at a time, when all of these are over.
size_t BytesWhileDeriving(const LoadLimits& limits) {
  const size_t launches = limits.launch_call_bytes_max + limits.communication_bytes_max;
  const size_t sorted =
      std::max(3 * limits.sort_bytes_max, limits.launch_lot_bytes_max + limits.sort_bytes_max);
  return kProgramBytes + limits.dictionary_bytes_max + BytesGathered(limits) +
         static_cast<size_t>(limits.sqlite_cache_kib) * 1024 + launches + sorted +
         3 * limits.step_bytes_max + limits.track_bytes_max + limits.args_group_bytes_max +
         limits.host.Sum();
}

std::string Shown(size_t memory_bytes, unsigned threads) {
  return std::to_string(memory_bytes / kMiB) + " MiB, " + std::to_string(threads) + " threads";
}

class LoadLimitsTest : public testing::TestWithParam<unsigned> {};

TEST_P(LoadLimitsTest, all_together_stay_below_the_budget) {
  const unsigned threads = GetParam();
  for (size_t memory_bytes = 32 * kMiB; memory_bytes <= 8192 * kMiB; memory_bytes += 4 * kMiB) {
    const LoadLimits limits = LoadLimits::For(memory_bytes, threads);
    ASSERT_EQ(limits.memory_bytes, memory_bytes);
    ASSERT_LE(BytesWhileReading(limits), memory_bytes) << Shown(memory_bytes, threads);
    ASSERT_LE(BytesWhileDeriving(limits), memory_bytes) << Shown(memory_bytes, threads);
  }
}

INSTANTIATE_TEST_SUITE_P(Threads, LoadLimitsTest, testing::Values(0u, 1u, 2u, 6u, 16u, 64u));

TEST(LoadLimits, a_budget_below_the_least_is_raised_to_it) {
  const LoadLimits limits = LoadLimits::For(1, 1);
  EXPECT_EQ(limits.memory_bytes, LoadLimits::kMemoryBytesMin);
}

TEST(LoadLimits, every_bound_is_of_use) {
  for (size_t memory_bytes = 32 * kMiB; memory_bytes <= 8192 * kMiB; memory_bytes *= 2) {
    const LoadLimits limits = LoadLimits::For(memory_bytes, 0);
    EXPECT_GE(limits.parsers, 1u);
    EXPECT_GE(limits.window_bytes, 64u * 1024);
    EXPECT_GE(limits.event_bytes_max, limits.window_bytes);
    EXPECT_GE(limits.header_bytes_max, 64u * 1024);
    EXPECT_GE(limits.dictionary_bytes_max, kMiB / 2);
    EXPECT_GE(limits.open_bytes_max, kMiB);
    EXPECT_GE(limits.sort_bytes_max, kMiB);
    EXPECT_GE(limits.launch_lot_bytes_max, kMiB);
    for (const size_t bytes :
         {limits.gpu_activity_bytes_max, limits.host_slice_bytes_max, limits.long_slice_bytes_max,
          limits.launch_call_bytes_max, limits.communication_bytes_max, limits.step_bytes_max,
          limits.track_bytes_max, limits.args_group_bytes_max, limits.host.call_path_bytes_max,
          limits.host.recent_path_bytes_max, limits.host.host_use_bytes_max,
          limits.host.kernel_use_bytes_max, limits.host.sync_use_bytes_max,
          limits.host.sync_call_bytes_max, limits.host.graph_call_bytes_max,
          limits.graphs.path_meaning_bytes_max}) {
      EXPECT_GE(bytes, 128u * 1024);
    }
    EXPECT_GE(limits.sqlite_cache_kib, 1024);
  }
}

TEST(LoadLimits, as_many_parsers_as_asked_for_when_memory_allows) {
  EXPECT_EQ(LoadLimits::For(1024 * kMiB, 4).parsers, 4u);
  EXPECT_EQ(LoadLimits::For(1024 * kMiB, 1).parsers, 1u);
  EXPECT_LT(LoadLimits::For(32 * kMiB, 64).parsers, 64u);
}

}  // namespace
}  // namespace tracedb
