#include "tracedb/memory/bytes_by_id.h"

#include <algorithm>

namespace tracedb {

Status BytesById::Set(int64_t id, uint8_t value) {
  if (numbers_.empty() || numbers_.back() != NumberOf(id)) {
    if (!open_.empty()) TRACEDB_TRY(store_.Add(open_));
    open_.assign(static_cast<size_t>(kIdsEach), 0);
    numbers_.push_back(NumberOf(id));
  }
  open_[static_cast<size_t>(id % kIdsEach)] = value;
  return Done{};
}

Result<uint8_t> BytesById::At(int64_t id) {
  const auto found = std::lower_bound(numbers_.begin(), numbers_.end(), NumberOf(id));
  if (found == numbers_.end() || *found != NumberOf(id)) return uint8_t{0};
  const auto place = static_cast<size_t>(id % kIdsEach);
  if (found + 1 == numbers_.end()) return open_[place];
  TRACEDB_ASSIGN(block, store_.Get(static_cast<size_t>(found - numbers_.begin())));
  return block[place];
}

}  // namespace tracedb
