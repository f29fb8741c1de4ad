// Over blanks in JSON, as fast as memory is read where they are many.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "tracedb/json/json_text.h"

namespace tracedb {

enum class Blanks { kBlanks, kBlanksAndCommas };

template <Blanks kWhat>
inline bool IsSkipped(char c) {
  return IsJsonBlank(c) || (kWhat == Blanks::kBlanksAndCommas && c == ',');
}

// For runs of any length; at least 16 bytes are there.
template <Blanks kWhat>
inline const char* AfterManyBlanks(const char* at, const char* end) {
#if defined(__SSE2__)
  const __m128i comma = _mm_set1_epi8(',');
  for (; end - at >= 16; at += 16) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
    __m128i skipped = _mm_or_si128(_mm_or_si128(_mm_cmpeq_epi8(bytes, _mm_set1_epi8(' ')),
                                                _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\n'))),
                                   _mm_or_si128(_mm_cmpeq_epi8(bytes, _mm_set1_epi8('\r')),
                                                _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\t'))));
    if (kWhat == Blanks::kBlanksAndCommas) {
      skipped = _mm_or_si128(skipped, _mm_cmpeq_epi8(bytes, comma));
    }
    const auto others = static_cast<uint32_t>(_mm_movemask_epi8(skipped)) ^ 0xffff;
    if (others != 0) return at + __builtin_ctz(others);
  }
#else
  // Eight of one kind at a time, which is how blanks come in large numbers.
  for (; end - at >= 8; at += 8) {
    uint64_t word;
    std::memcpy(&word, at, sizeof word);
    const uint64_t same = uint64_t{0x0101010101010101} * static_cast<unsigned char>(*at);
    if (word != same || !IsSkipped<kWhat>(*at)) break;
  }
#endif
  while (at != end && IsSkipped<kWhat>(*at)) ++at;
  return at;
}

// The first byte from `at` on that is none of them, else `end`.
template <Blanks kWhat = Blanks::kBlanks>
inline const char* AfterBlanks(const char* at, const char* end) {
  constexpr int kFew = 4;  // as between most values
  for (int i = 0; i < kFew; ++i, ++at) {
    if (at == end || !IsSkipped<kWhat>(*at)) return at;
  }
  return AfterManyBlanks<kWhat>(at, end);
}

}  // namespace tracedb
