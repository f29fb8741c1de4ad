// Blocks of bytes that are added one after the other and looked up in any order. Memory is bounded:
// what is more goes to a file without a name, of which a few blocks are kept once they were read.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "tracedb/base/result.h"
#include "tracedb/memory/spill_file.h"

namespace tracedb {

class BlockStore {
 public:
  static constexpr size_t kBlockBytes = 16 * 1024;
  static constexpr size_t kReadBlocks = 4;  // that are kept

  // `folder` is for what does not fit in `bytes_max`.
  BlockStore(std::filesystem::path folder, size_t bytes_max)
      : spill_(std::make_unique<SpillFile>(std::move(folder))),
        kept_max_(bytes_max / kBlockBytes) {}

  size_t blocks() const { return blocks_; }
  // `block` has kBlockBytes.
  Status Add(std::span<const uint8_t> block);
  // Valid until the next but kReadBlocks - 1.
  Result<const uint8_t*> Get(size_t number);

 private:
  using Bytes = std::unique_ptr<uint8_t[]>;
  struct ReadBlock {
    size_t number = 0;
    Bytes bytes;  // null: none yet
  };

  std::unique_ptr<SpillFile> spill_;
  size_t kept_max_;
  size_t blocks_ = 0;
  std::vector<Bytes> kept_;  // the first ones
  std::array<ReadBlock, kReadBlocks> read_;
};

}  // namespace tracedb
