// BlockStore and BytesById, in memory and in a file.

#include "tracedb/memory/block_store.h"

#include <gtest/gtest.h>

#include <vector>

#include "tracedb/memory/bytes_by_id.h"

namespace tracedb {
namespace {

class BlockStoreTest : public testing::TestWithParam<size_t> {};  // blocks that stay in memory

TEST_P(BlockStoreTest, blocks_are_found_in_any_order) {
  constexpr size_t kBlocks = 12;
  BlockStore store("/tmp", GetParam() * BlockStore::kBlockBytes);
  for (size_t i = 0; i < kBlocks; ++i) {
    const std::vector<uint8_t> block(BlockStore::kBlockBytes, static_cast<uint8_t>(i + 1));
    ASSERT_TRUE(store.Add(block).ok());
  }
  ASSERT_EQ(store.blocks(), kBlocks);
  for (size_t i = 0; i < 5 * kBlocks; ++i) {
    const size_t number = i * 7 % kBlocks;
    const auto block = store.Get(number);
    ASSERT_TRUE(block.ok());
    EXPECT_EQ(block.value()[0], number + 1);
    EXPECT_EQ(block.value()[BlockStore::kBlockBytes - 1], number + 1);
  }
}

TEST_P(BlockStoreTest, bytes_by_id_are_those_that_were_set) {
  BytesById bytes("/tmp", GetParam() * BlockStore::kBlockBytes);
  const auto value_of = [](int64_t id) { return static_cast<uint8_t>(1 + id % 7); };
  constexpr int64_t kStep = 1'237;
  constexpr int64_t kEnd = 400 * kStep;
  for (int64_t id = kStep; id < kEnd; id += kStep) ASSERT_TRUE(bytes.Set(id, value_of(id)).ok());
  for (int64_t i = 1; i < 1200; ++i) {
    const int64_t id = i * 997 * kStep % kEnd;
    const auto there = bytes.At(id);
    ASSERT_TRUE(there.ok());
    EXPECT_EQ(there.value(), id == 0 ? 0 : value_of(id)) << id;
    const auto beside = bytes.At(id + 1);
    ASSERT_TRUE(beside.ok());
    EXPECT_EQ(beside.value(), 0);
  }
  EXPECT_EQ(bytes.At(kEnd * 100).value(), 0);
}

INSTANTIATE_TEST_SUITE_P(InMemory, BlockStoreTest, testing::Values(0u, 3u, 100u));

}  // namespace
}  // namespace tracedb
