// Tables that tell Deflate's symbols by the next bits of the data (RFC 1951, 3.2).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace tracedb {

// A symbol of lengths or distances: bits 0 to 5 say how many bits it takes in all, 8 to 11 how many
// of them its code, 16 to 30 what its extra bits are added to. 0: no symbol has this code.
using DeflateEntry = uint32_t;

inline constexpr uint32_t DeflateBits(DeflateEntry entry) { return entry & 63; }
inline constexpr uint32_t DeflateCodeBits(DeflateEntry entry) { return entry >> 8 & 15; }
inline constexpr uint32_t DeflateBase(DeflateEntry entry) { return entry >> 16 & 0x7fff; }

class DeflateCodes {
 public:
  static constexpr size_t kLiteralCodes = 288;
  static constexpr size_t kDistanceCodes = 32;
  static constexpr unsigned kLiteralIndexBits = 11;
  static constexpr unsigned kDistanceIndexBits = 9;
  // In entries for literals and lengths.
  static constexpr uint32_t kLiteral = uint32_t{1} << 31;  // DeflateBase is the byte
  static constexpr uint32_t kEnd = uint32_t{1} << 7;       // of a block
  // Longer codes are in a table of their own, at DeflateBase, of 2^DeflateCodeBits entries.
  static constexpr uint32_t kLonger = uint32_t{1} << 6;

  // By the length of each symbol's code; 0: it has none. False where they are no complete code;
  // of distances there may be one of one bit, or none.
  bool SetLiterals(std::span<const uint8_t> code_bits);
  bool SetDistances(std::span<const uint8_t> code_bits);
  // Those of blocks without codes of their own.
  void SetFixed();

  DeflateEntry Literal(uint64_t bits) const {
    const DeflateEntry entry = literals_[bits & ((1U << kLiteralIndexBits) - 1)];
    return (entry & kLonger) == 0 ? entry
                                  : Longer(literals_.data(), entry, bits >> kLiteralIndexBits);
  }
  DeflateEntry Distance(uint64_t bits) const {
    const DeflateEntry entry = distances_[bits & ((1U << kDistanceIndexBits) - 1)];
    return (entry & kLonger) == 0 ? entry
                                  : Longer(distances_.data(), entry, bits >> kDistanceIndexBits);
  }

 private:
  static DeflateEntry Longer(const DeflateEntry* table, DeflateEntry entry, uint64_t bits) {
    return table[DeflateBase(entry) + (bits & ((uint64_t{1} << DeflateCodeBits(entry)) - 1))];
  }

  // With a table of 2^(15 - index bits) entries for each two symbols.
  std::array<DeflateEntry, (1 << kLiteralIndexBits) + kLiteralCodes / 2 * 16> literals_;
  std::array<DeflateEntry, (1 << kDistanceIndexBits) + kDistanceCodes / 2 * 64> distances_;
};

// The code that lengths of codes are written in.
class DeflateLengthCode {
 public:
  static constexpr unsigned kIndexBits = 7;

  bool Set(const std::array<uint8_t, 19>& code_bits);  // false: no complete code
  uint8_t Symbol(uint64_t bits) const { return entries_[bits & 127].symbol; }
  unsigned Bits(uint64_t bits) const { return entries_[bits & 127].bits; }

 private:
  struct Entry {
    uint8_t symbol;
    uint8_t bits;
  };
  std::array<Entry, 128> entries_;
};

}  // namespace tracedb
