#include "tracedb/pages/record_encoder.h"

#include <algorithm>

namespace tracedb {
namespace {

constexpr size_t kTypesBytes = 256;  // to begin with
constexpr size_t kBodyBytes = 1024;

}  // namespace

RecordEncoder::RecordEncoder() : body_room_before_(kShortTypesBytesMax + 1 + kCopyBytes) {
  types_ = std::make_unique<uint8_t[]>(kTypesRoomBefore + kTypesBytes);
  types_limit_ = types_start() + kTypesBytes;
  body_ = std::make_unique_for_overwrite<uint8_t[]>(body_room_before_ + kBodyBytes);
  body_limit_ = body_start() + kBodyBytes;
  Reset();
}

void RecordEncoder::GrowTypes() {
  const auto used = static_cast<size_t>(types_end_ - types_start());
  const size_t capacity = 2 * static_cast<size_t>(types_limit_ - types_start());
  auto grown = std::make_unique<uint8_t[]>(kTypesRoomBefore + capacity);
  std::memcpy(grown.get() + kTypesRoomBefore, types_start(), used);
  types_ = std::move(grown);
  types_end_ = types_start() + used;
  types_limit_ = types_start() + capacity;
}

void RecordEncoder::GrowBody(size_t bytes) {
  const auto used = static_cast<size_t>(body_end_ - body_start());
  const auto old_capacity = static_cast<size_t>(body_limit_ - body_start());
  const size_t capacity = std::max(2 * old_capacity, used + bytes);
  // Not zeroed: a text of megabytes comes next and overwrites it.
  auto grown = std::make_unique_for_overwrite<uint8_t[]>(body_room_before_ + capacity);
  std::memcpy(grown.get() + body_room_before_, body_start(), used);
  body_ = std::move(grown);
  body_end_ = body_start() + used;
  body_limit_ = body_start() + capacity;
}

std::span<const uint8_t> RecordEncoder::FinishLongHeader(size_t types_bytes) {
  // The header's size counts its own bytes, which can make that size one byte longer.
  size_t header_bytes = types_bytes + 1;
  while (types_bytes + VarintBytes(header_bytes) != header_bytes) {
    header_bytes = types_bytes + VarintBytes(header_bytes);
  }
  if (header_bytes > body_room_before_) {
    const auto used = static_cast<size_t>(body_end_ - body_start());
    const auto capacity = static_cast<size_t>(body_limit_ - body_start());
    const size_t room_before = 2 * header_bytes;
    auto moved = std::make_unique_for_overwrite<uint8_t[]>(room_before + capacity);
    std::memcpy(moved.get() + room_before, body_start(), used);
    body_ = std::move(moved);
    body_room_before_ = room_before;
    body_end_ = body_start() + used;
    body_limit_ = body_start() + capacity;
  }
  uint8_t* record = body_start() - header_bytes;
  uint8_t* types = PutVarint(record, header_bytes);
  std::memcpy(types, types_start(), types_bytes);
  return {record, body_end_};
}

}  // namespace tracedb
