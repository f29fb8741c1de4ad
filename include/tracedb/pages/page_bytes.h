// Big-endian integers and varints as SQLite's file format has them.
//
// Knows nothing of pages or records; inline, because every row goes through it.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace tracedb {

inline constexpr size_t kVarintBytesMax = 9;

inline void PutU16(uint8_t* to, uint32_t value) {
  to[0] = static_cast<uint8_t>(value >> 8);
  to[1] = static_cast<uint8_t>(value);
}

inline void PutU32(uint8_t* to, uint32_t value) {
  to[0] = static_cast<uint8_t>(value >> 24);
  to[1] = static_cast<uint8_t>(value >> 16);
  to[2] = static_cast<uint8_t>(value >> 8);
  to[3] = static_cast<uint8_t>(value);
}

inline void PutU64(uint8_t* to, uint64_t value) {
  if constexpr (std::endian::native == std::endian::little) value = __builtin_bswap64(value);
  std::memcpy(to, &value, sizeof value);
}

inline uint32_t GetU16(const uint8_t* from) { return uint32_t{from[0]} << 8 | from[1]; }

inline uint32_t GetU32(const uint8_t* from) {
  return uint32_t{from[0]} << 24 | uint32_t{from[1]} << 16 | uint32_t{from[2]} << 8 | from[3];
}

// Seven bits a byte, but eight in the ninth.
inline size_t VarintBytes(uint64_t value) {
  if (value < 0x80) return 1;
  const size_t bytes = (static_cast<size_t>(std::bit_width(value)) + 6) / 7;
  return bytes < kVarintBytesMax ? bytes : kVarintBytesMax;
}

namespace page_bytes_internal {

inline uint8_t Group(uint64_t value, int shift) {
  return static_cast<uint8_t>(0x80 | (value >> shift));
}

inline uint8_t* PutLongVarint(uint8_t* to, uint64_t value) {
  const size_t bytes = VarintBytes(value);
  size_t at = bytes;
  if (bytes == kVarintBytesMax) {
    to[--at] = static_cast<uint8_t>(value);
    value >>= 8;
  } else {
    to[--at] = static_cast<uint8_t>(value & 0x7f);
    value >>= 7;
  }
  for (; at > 0; value >>= 7) to[--at] = static_cast<uint8_t>(0x80 | (value & 0x7f));
  return to + bytes;
}

}  // namespace page_bytes_internal

// Writes VarintBytes(value) bytes and returns their end.
inline uint8_t* PutVarint(uint8_t* to, uint64_t value) {
  using page_bytes_internal::Group;
  // Sizes and rowids have the same few lengths for long stretches: branches are foreseen.
  if (value < 0x80) {
    to[0] = static_cast<uint8_t>(value);
    return to + 1;
  }
  if (value < 0x4000) {
    to[0] = Group(value, 7);
    to[1] = static_cast<uint8_t>(value & 0x7f);
    return to + 2;
  }
  if (value < 0x200000) {
    to[0] = Group(value, 14);
    to[1] = Group(value, 7);
    to[2] = static_cast<uint8_t>(value & 0x7f);
    return to + 3;
  }
  if (value < 0x10000000) {
    to[0] = Group(value, 21);
    to[1] = Group(value, 14);
    to[2] = Group(value, 7);
    to[3] = static_cast<uint8_t>(value & 0x7f);
    return to + 4;
  }
  return page_bytes_internal::PutLongVarint(to, value);
}

}  // namespace tracedb
