#include "ingest/build/open_slices.h"

#include <bit>
#include <utility>

namespace tracedb {

void KeptSlots::Keep(const SlotValues& slots) {
  for (uint32_t left = slots.mask; left != 0; left &= left - 1) {
    const auto slot = static_cast<size_t>(std::countr_zero(left));
    if ((slots.text_mask >> slot & 1) != 0) {
      texts_.emplace_back(static_cast<Slot>(slot), slots.texts[slot]);
    } else {
      ints_.emplace_back(static_cast<Slot>(slot), slots.ints[slot]);
    }
  }
}

SlotValues KeptSlots::Values() const {
  SlotValues values;
  for (const auto& [slot, value] : ints_) {
    values.mask |= uint32_t{1} << static_cast<int>(slot);
    values.ints[static_cast<size_t>(slot)] = value;
  }
  for (const auto& [slot, text] : texts_) {
    values.mask |= uint32_t{1} << static_cast<int>(slot);
    values.text_mask |= uint32_t{1} << static_cast<int>(slot);
    values.texts[static_cast<size_t>(slot)] = text;
  }
  return values;
}

size_t KeptSlots::Bytes() const {
  size_t bytes = ints_.capacity() * sizeof ints_[0] + texts_.capacity() * sizeof texts_[0];
  for (const auto& [slot, text] : texts_) bytes += text.capacity();
  return bytes;
}

size_t OpenSlices::BytesOf(const OpenSlice& slice) {
  constexpr size_t kEach = sizeof(OpenSlice) + sizeof(Stack) + 64;  // and the map's own
  return kEach + slice.slots.Bytes();
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

std::optional<OpenSlice> OpenSlices::Close(uint64_t key, int64_t label, bool& refused) {
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
  while (label != 0 && at->label != label && at != stack.open.begin()) --at;
  if (label != 0 && at->label != label) return std::nullopt;
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
