// Builds SQLite records: one row's values as a table leaf stores them.
//
// Values are stored as given; no column affinity is applied. It is for the caller to give a
// column what SQLite would have stored in it: no Real in an INTEGER column, no Int in a TEXT one.
// NULLs at the end are left out, but for the first column: SQLite cannot read a record of none.
// It reads a column that is left out as its DEFAULT, so the tables' columns must have none.
//
//   encoder.Reset();
//   encoder.Int(7);
//   encoder.Null();
//   encoder.Text("x");
//   appender.Append(rowid, encoder.Finish());
#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string_view>

#include "tracedb/pages/page_bytes.h"

namespace tracedb {

namespace record_encoder_internal {

struct IntWidth {
  uint8_t type;  // SQLite's serial type
  uint8_t bytes;
};

// By the number of an integer's bits without the sign.
inline constexpr auto kIntWidths = [] {
  std::array<IntWidth, 64> widths{};
  for (size_t bits = 0; bits < widths.size(); ++bits) {
    widths[bits] = bits < 8    ? IntWidth{1, 1}
                   : bits < 16 ? IntWidth{2, 2}
                   : bits < 24 ? IntWidth{3, 3}
                   : bits < 32 ? IntWidth{4, 4}
                   : bits < 48 ? IntWidth{5, 6}
                               : IntWidth{6, 8};
  }
  return widths;
}();

// Stores of these types cannot change a pointer, as far as the compiler is concerned; one through
// uint8_t* could, and the encoder's own pointers would be loaded again for every column.
enum class TypeByte : uint8_t {};
using UnalignedU64 [[gnu::aligned(1)]] = uint64_t;

}  // namespace record_encoder_internal

// Not thread safe. Its memory grows to twice the longest record and stays.
class RecordEncoder {
 public:
  RecordEncoder();

  // Forgets the columns so far.
  void Reset() {
    types_end_ = types_start();
    body_end_ = body_start();
  }

  void Null() { AddType(kNullType); }

  void Int(int64_t value) {
    if (static_cast<uint64_t>(value) <= 1) {
      AddType(static_cast<uint8_t>(kZeroType + value));
      return;
    }
    // The bits beside the sign: those of ~value when it is negative; one at least.
    const uint64_t magnitude = static_cast<uint64_t>(value ^ (value >> 63)) | 1;
    const auto bits = static_cast<size_t>(std::bit_width(magnitude));
    const auto width = record_encoder_internal::kIntWidths[bits];
    AddType(width.type);
    // All eight bytes are stored, the wanted ones first; the next column overwrites the rest.
    PutBody(static_cast<uint64_t>(value) << (64 - 8 * width.bytes));
    body_end_ += width.bytes;
  }

  // NaN becomes NULL, as it does when SQLite stores it.
  void Real(double value) {
    if (std::isnan(value)) return Null();
    AddType(kRealType);
    PutBody(std::bit_cast<uint64_t>(value));
    body_end_ += sizeof value;
  }

  // `text` is UTF-8 and is copied at once.
  void Text(std::string_view text) {
    const uint64_t type = kTextType + 2 * static_cast<uint64_t>(text.size());
    EnsureTypeRoom();
    types_end_ = PutVarint(types_end_, type);
    EnsureBodyRoom(text.size());
    if (!text.empty()) std::memcpy(body_end_, text.data(), text.size());
    body_end_ += text.size();
  }

  void Char(char c) { Text({&c, 1}); }

  // As SQLite keeps `text` in a column of the type INTEGER: a number where it is one as a whole.
  void NumberOrText(std::string_view text);

  // The record; it stays valid until the next call of any function here. To be called once a
  // record, and Reset() before the next.
  std::span<const uint8_t> Finish() {
    // A type of several bytes is a text's, which is odd: its last byte is no NULL.
    uint8_t* const first = types_start();
    if (types_end_ == first) AddType(kNullType);
    while (types_end_ > first + 1 && types_end_[-1] == kNullType) --types_end_;
    const auto types_bytes = static_cast<size_t>(types_end_ - first);
    if (types_bytes > kShortTypesBytesMax) [[unlikely]]
      return FinishLongHeader(types_bytes);
    // Header and body must touch. The copy runs in whole blocks from the header's end to its
    // front; what it takes too much falls into the room before both.
    for (size_t done = 0; done < types_bytes;) {
      done += kCopyBytes;
      std::memcpy(body_start() - done, types_end_ - done, kCopyBytes);
    }
    uint8_t* record = body_start() - types_bytes - 1;
    record[0] = static_cast<uint8_t>(types_bytes + 1);
    return {record, body_end_};
  }

 private:
  static constexpr uint8_t kNullType = 0;
  static constexpr uint8_t kRealType = 7;
  static constexpr uint8_t kZeroType = 8;  // and 9 is the constant 1
  static constexpr uint64_t kTextType = 13;
  static constexpr size_t kShortTypesBytesMax = 126;  // the header's own size is one byte then
  static constexpr size_t kCopyBytes = 16;
  static constexpr size_t kTypesRoomBefore = kCopyBytes;  // for Finish to read from

  uint8_t* types_start() { return types_.get() + kTypesRoomBefore; }
  uint8_t* body_start() { return body_.get() + body_room_before_; }

  void AddType(uint8_t type) {
    EnsureTypeRoom();
    using record_encoder_internal::TypeByte;
    *reinterpret_cast<TypeByte*>(types_end_++) = TypeByte{type};
  }
  // Stores eight bytes at the body's end, most significant first, and leaves the end there.
  void PutBody(uint64_t value) {
    EnsureBodyRoom(sizeof value);
    if constexpr (std::endian::native == std::endian::little) value = __builtin_bswap64(value);
    *reinterpret_cast<record_encoder_internal::UnalignedU64*>(body_end_) = value;
  }
  void EnsureTypeRoom() {
    if (types_limit_ - types_end_ < static_cast<ptrdiff_t>(kVarintBytesMax)) [[unlikely]] {
      GrowTypes();
    }
  }
  void EnsureBodyRoom(size_t bytes) {
    if (static_cast<size_t>(body_limit_ - body_end_) < bytes) [[unlikely]]
      GrowBody(bytes);
  }

  void GrowTypes();
  // Makes room for `bytes` more bytes of values.
  void GrowBody(size_t bytes);
  std::span<const uint8_t> FinishLongHeader(size_t types_bytes);

  std::unique_ptr<uint8_t[]> types_;  // room, then the serial types of the columns so far
  uint8_t* types_end_ = nullptr;
  uint8_t* types_limit_ = nullptr;
  std::unique_ptr<uint8_t[]> body_;  // room for the header, then the values so far
  size_t body_room_before_;
  uint8_t* body_end_ = nullptr;
  uint8_t* body_limit_ = nullptr;
};

}  // namespace tracedb
