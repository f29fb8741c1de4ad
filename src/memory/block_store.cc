#include "tracedb/memory/block_store.h"

#include <algorithm>
#include <cassert>

namespace tracedb {

Status BlockStore::Add(std::span<const uint8_t> block) {
  assert(block.size() == kBlockBytes);
  if (kept_.size() < kept_max_) {
    kept_.push_back(std::make_unique_for_overwrite<uint8_t[]>(kBlockBytes));
    std::copy(block.begin(), block.end(), kept_.back().get());
  } else {
    TRACEDB_TRY(spill_->Append(block));
  }
  ++blocks_;
  return Done{};
}

Result<const uint8_t*> BlockStore::Get(size_t number) {
  assert(number < blocks_);
  if (number < kept_.size()) return kept_[number].get();
  ReadBlock& read = read_[number % kReadBlocks];
  if (read.bytes == nullptr) {
    read.bytes = std::make_unique_for_overwrite<uint8_t[]>(kBlockBytes);
  } else if (read.number == number) {
    return read.bytes.get();
  }
  read.number = number;
  const uint64_t place = (number - kept_.size()) * kBlockBytes;
  const Status done = spill_->Read(place, {read.bytes.get(), kBlockBytes});
  if (!done.ok()) {
    read.bytes.reset();
    return done.error();
  }
  return read.bytes.get();
}

}  // namespace tracedb
