// Digits and literals eight and sixteen bytes at a time, for text that is read again and again.
// All functions may look at up to 16 bytes after what they are asked about: whoever calls has
// them (windows and layouts end in padding).
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace tracedb {

// Whether two texts of the same size are the same.
[[gnu::always_inline]] inline bool SameBytes(const char* a, const char* b, size_t size) {
#ifdef __SSE2__
  // Bit i tells whether the bytes i after `at` are the same.
  const auto same = [&](size_t at) {
    const __m128i x = _mm_loadu_si128(reinterpret_cast<const __m128i*>(a + at));
    const __m128i y = _mm_loadu_si128(reinterpret_cast<const __m128i*>(b + at));
    return static_cast<uint32_t>(_mm_movemask_epi8(_mm_cmpeq_epi8(x, y)));
  };
  size_t at = 0;
  for (; at + 16 < size; at += 16) {
    if (same(at) != 0xffff) return false;
  }
  return (~same(at) & ((uint32_t{1} << (size - at)) - 1)) == 0;
#else
  return std::memcmp(a, b, size) == 0;
#endif
}

struct QuickDigits {
  uint64_t value = 0;
  unsigned count = 0;  // how many digits there are, at most 8
};

// The digits at the start of eight bytes.
[[gnu::always_inline]] inline QuickDigits ReadEightDigits(const char* at) {
  constexpr uint64_t kZeros = 0x3030303030303030;
  uint64_t bytes;
  std::memcpy(&bytes, at, sizeof bytes);
  if constexpr (std::endian::native != std::endian::little) bytes = __builtin_bswap64(bytes);
  uint64_t digits = bytes ^ kZeros;
  // A byte over 9 gets its highest bit; what is after the first such byte does not matter.
  const uint64_t others = ((digits + 0x7676767676767676) | digits) & 0x8080808080808080;
  const auto count = static_cast<unsigned>(std::countr_zero(others)) / 8;
  if (count == 0) return {};
  digits <<= 64 - 8 * count;  // the last digit comes last; zeros in front
  digits = digits * 10 + (digits >> 8);
  digits = ((digits & 0x000000ff000000ff) * 0x000f424000000064 +
            (digits >> 16 & 0x000000ff000000ff) * 0x0000271000000001) >>
           32;
  return {digits & 0xffffffff, count};
}

// Up to 24 digits from `at` on: their value, where it fits 64 bits (19 digits do), and how many.
[[gnu::always_inline]] inline QuickDigits ReadDigits(const char* at) {
  constexpr uint64_t kPowers[9] = {1,       10,        100,        1000,       10'000,
                                   100'000, 1'000'000, 10'000'000, 100'000'000};
  QuickDigits read = ReadEightDigits(at);
  if (read.count < 8) return read;
  for (int more = 0; more < 2; ++more) {
    const QuickDigits next = ReadEightDigits(at + read.count);
    read.value = read.value * kPowers[next.count] + next.value;
    read.count += next.count;
    if (next.count < 8) break;
  }
  return read;
}

// Up to three digits after a decimal point, as thousandths.
[[gnu::always_inline]] inline QuickDigits ReadThousandths(const char* at) {
  QuickDigits read = ReadEightDigits(at);
  if (read.count == 0) return read;
  constexpr uint64_t kUnits[4] = {0, 100, 10, 1};
  if (read.count <= 3) {
    read.value *= kUnits[read.count];
    return read;
  }
  const auto digit = [at](int i) { return static_cast<uint64_t>(at[i] - '0'); };
  return {digit(0) * 100 + digit(1) * 10 + digit(2), 3};
}

}  // namespace tracedb
