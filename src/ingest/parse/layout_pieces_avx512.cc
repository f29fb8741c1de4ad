#include <immintrin.h>

#include "ingest/parse/layout_pieces_fit.h"

namespace tracedb {
namespace {

struct Avx512Compare {
  static bool Same(const char* a, const char* b, size_t size) {
    size_t at = 0;
    for (; at + 64 < size; at += 64) {
      if (_mm512_cmpneq_epu8_mask(_mm512_loadu_si512(a + at), _mm512_loadu_si512(b + at)) != 0) {
        return false;
      }
    }
    // Bytes that are masked out are not read.
    const __mmask64 rest = _bzhi_u64(~uint64_t{0}, static_cast<uint32_t>(size - at));
    return _mm512_mask_cmpneq_epu8_mask(rest, _mm512_maskz_loadu_epi8(rest, a + at),
                                        _mm512_maskz_loadu_epi8(rest, b + at)) == 0;
  }
};

}  // namespace

const char* FitLayoutAvx512(const LayoutPiece* piece, const char* texts, const char* at,
                            const char* end, FittedValues& fitted) {
  return FitPieces<Avx512Compare>(piece, texts, at, end, fitted);
}

}  // namespace tracedb
