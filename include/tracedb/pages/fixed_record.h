// Builds the SQLite record of a row whose number of columns is known beforehand, and whose values
// are integers, NULLs and single characters: those of nearly every event.
//
// Header and values are written where they stay. A RecordEncoder, which takes any values, learns
// only at the end how long the header is, and has to move it then.
//
//   FixedRecord::Room room;
//   FixedRecord record(room, 3);
//   record.Null();
//   record.Int(7);
//   record.Char('X');
//   appender.Append(rowid, record.Finish());
#pragma once

#include <array>
#include <bit>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <span>

#include "tracedb/pages/page_bytes.h"
#include "tracedb/pages/record_encoder.h"

namespace tracedb {

// As RecordEncoder stores what it is given; the last column must not be NULL, as it leaves those
// out. A local one lives in registers.
class FixedRecord {
 public:
  static constexpr size_t kColumnsMax = 40;
  // Outlives the record, and what Finish returns.
  using Room = std::array<uint8_t, 1 + kColumnsMax + (kColumnsMax + 1) * sizeof(uint64_t)>;

  // `columns` is 1 to kColumnsMax.
  FixedRecord(Room& room, size_t columns)
      : begin_(room.data()), type_(begin_ + 1), value_(type_ + columns) {
    assert(columns > 0 && columns <= kColumnsMax);
    *begin_ = static_cast<uint8_t>(columns + 1);
  }

  void Null() { *type_++ = 0; }
  void Int(int64_t value) {
    // The bits beside the sign: those of ~value when it is negative; one at least.
    const auto bits =
        static_cast<size_t>(std::bit_width(static_cast<uint64_t>(value ^ (value >> 63)) | 1));
    const auto width = record_encoder_internal::kIntWidths[bits];
    const bool is_0_or_1 = static_cast<uint64_t>(value) <= 1;
    *type_++ = is_0_or_1 ? static_cast<uint8_t>(kZeroType + value) : width.type;
    // All eight bytes are stored, the wanted ones first; the next column overwrites the rest.
    PutU64(value_, static_cast<uint64_t>(value) << (64 - 8 * width.bytes));
    value_ += is_0_or_1 ? 0 : width.bytes;
  }
  // A text of one character.
  void Char(char c) {
    *type_++ = kCharType;
    *value_++ = static_cast<uint8_t>(c);
  }

  // All columns have been given.
  std::span<const uint8_t> Finish() const {
    assert(type_ == begin_ + *begin_);
    return {begin_, value_};
  }

 private:
  static constexpr uint8_t kZeroType = 8;   // and 9 is the constant 1
  static constexpr uint8_t kCharType = 15;  // a text's type is 13 and twice its length

  uint8_t* const begin_;  // the header's size; the columns' types are after it, then the values
  uint8_t* type_;
  uint8_t* value_;
};

}  // namespace tracedb
