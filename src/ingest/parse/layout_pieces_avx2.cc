#include <immintrin.h>

#include "ingest/parse/layout_pieces_fit.h"

namespace tracedb {
namespace {

struct Avx2Compare {
  static bool Same(const char* a, const char* b, size_t size) {
    // Bit i tells whether the bytes i after `at` are the same.
    const auto same = [&](size_t at) {
      const __m256i x = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(a + at));
      const __m256i y = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(b + at));
      return static_cast<uint32_t>(_mm256_movemask_epi8(_mm256_cmpeq_epi8(x, y)));
    };
    size_t at = 0;
    for (; at + 32 < size; at += 32) {
      if (same(at) != 0xffffffff) return false;
    }
    return _bzhi_u64(~uint64_t{same(at)}, static_cast<uint32_t>(size - at)) == 0;
  }
};

}  // namespace

const char* FitLayoutAvx2(const LayoutPiece* piece, const char* texts, const char* at,
                          const char* end, FittedValues& fitted) {
  return FitPieces<Avx2Compare>(piece, texts, at, end, fitted);
}

}  // namespace tracedb
