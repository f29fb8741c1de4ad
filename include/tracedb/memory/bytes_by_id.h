// A byte for each of some ids: set in the order of the ids, looked up in any. In bounded memory,
// see block_store.h.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "tracedb/base/result.h"
#include "tracedb/memory/block_store.h"

namespace tracedb {

class BytesById {
 public:
  // `folder` is for what does not fit in `bytes_max`.
  BytesById(std::filesystem::path folder, size_t bytes_max)
      : store_(std::move(folder), bytes_max) {}

  // Ids must rise; `value` is not 0.
  Status Set(int64_t id, uint8_t value);
  // 0 where none was set.
  Result<uint8_t> At(int64_t id);

 private:
  static constexpr int64_t kIdsEach = BlockStore::kBlockBytes;
  static int64_t NumberOf(int64_t id) { return id / kIdsEach; }

  BlockStore store_;              // blocks in which no byte is set are left out
  std::vector<int64_t> numbers_;  // of the blocks in it; the last may still be open_
  std::vector<uint8_t> open_;     // bytes of the last one, until one after it comes
};

}  // namespace tracedb
