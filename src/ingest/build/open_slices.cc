#include "ingest/build/open_slices.h"

#include <bit>
#include <utility>

namespace tracedb {

void KeptValues::Keep(const ArgsValues& values) {
  for (uint32_t left = values.mask; left != 0; left &= left - 1) {
    const auto column = static_cast<size_t>(std::countr_zero(left));
    if ((values.text_mask >> column & 1) != 0) {
      texts_.emplace_back(static_cast<ArgsColumn>(column), values.texts[column]);
    } else {
      ints_.emplace_back(static_cast<ArgsColumn>(column), values.ints[column]);
    }
  }
}

ArgsValues KeptValues::Values() const {
  ArgsValues values;
  for (const auto& [column, value] : ints_) {
    values.mask |= uint32_t{1} << static_cast<int>(column);
    values.ints[static_cast<size_t>(column)] = value;
  }
  for (const auto& [column, text] : texts_) {
    values.mask |= uint32_t{1} << static_cast<int>(column);
    values.text_mask |= uint32_t{1} << static_cast<int>(column);
    values.texts[static_cast<size_t>(column)] = text;
  }
  return values;
}

size_t KeptValues::Bytes() const {
  size_t bytes = ints_.capacity() * sizeof ints_[0] + texts_.capacity() * sizeof texts_[0];
  for (const auto& [column, text] : texts_) bytes += text.capacity();
  return bytes;
}

size_t OpenSlices::BytesOf(const OpenSlice& slice) {
  constexpr size_t kEach = sizeof(OpenSlice) + sizeof(Stack) + 64;  // and the map's own
  return kEach + slice.values.Bytes();
}

bool OpenSlices::Open(uint64_t key, OpenSlice& slice) {
  const auto found = stacks_.find(key);
  if (found != stacks_.end() && found->second.refused > 0) {
    ++found->second.refused;
    return false;
  }
  if (bytes_ + BytesOf(slice) > bytes_max_) {
    if (found != stacks_.end()) {
      ++found->second.refused;
    } else {
      ++refused_elsewhere_;
    }
    return false;
  }
  bytes_ += BytesOf(slice);
  stacks_[key].open.push_back(std::move(slice));
  return true;
}

std::optional<OpenSlice> OpenSlices::Close(uint64_t key, int64_t event_name, bool& refused) {
  refused = false;
  const auto found = stacks_.find(key);
  if (found == stacks_.end()) {
    if (refused_elsewhere_ > 0) {
      --refused_elsewhere_;
      refused = true;
    }
    return std::nullopt;
  }
  Stack& stack = found->second;
  if (stack.refused > 0) {
    --stack.refused;
    refused = true;
    return std::nullopt;
  }
  auto at = stack.open.end() - 1;
  while (event_name != 0 && at->event_name != event_name && at != stack.open.begin()) --at;
  if (event_name != 0 && at->event_name != event_name) return std::nullopt;
  OpenSlice slice = std::move(*at);
  stack.open.erase(at);
  bytes_ -= BytesOf(slice);
  if (stack.open.empty()) stacks_.erase(found);
  return slice;
}

std::optional<OpenSlice> OpenSlices::TakeAny() {
  if (stacks_.empty()) return std::nullopt;
  const auto first = stacks_.begin();
  OpenSlice slice = std::move(first->second.open.back());
  first->second.open.pop_back();
  if (first->second.open.empty()) stacks_.erase(first);
  return slice;
}

}  // namespace tracedb
