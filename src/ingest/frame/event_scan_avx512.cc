// Compiled with -mavx512bw -mpclmul -mbmi2; called only where the processor has all three.
#include <immintrin.h>

#include "ingest/frame/event_scan_blocks.h"

namespace tracedb {
namespace {

struct Avx512Unit {
  static BlockMasks Masks(const char* block) {
    const __m512i bytes = _mm512_loadu_si512(block);
    const __m512i folded = _mm512_or_si512(bytes, _mm512_set1_epi8(0x20));  // [ to {, ] to }
    return {_mm512_cmpeq_epi8_mask(bytes, _mm512_set1_epi8('"')),
            _mm512_cmpeq_epi8_mask(bytes, _mm512_set1_epi8('\\')),
            _mm512_cmpeq_epi8_mask(folded, _mm512_set1_epi8('{')),
            _mm512_cmpeq_epi8_mask(folded, _mm512_set1_epi8('}'))};
  }

  static uint64_t PrefixXor(uint64_t bits) {
    const __m128i product =
        _mm_clmulepi64_si128(_mm_set_epi64x(0, static_cast<int64_t>(bits)), _mm_set1_epi8(-1), 0);
    return static_cast<uint64_t>(_mm_cvtsi128_si64(product));
  }
  static uint64_t Compress(uint64_t bits, uint64_t places) { return _pext_u64(bits, places); }
  static uint64_t Expand(uint64_t bits, uint64_t places) { return _pdep_u64(bits, places); }
};

}  // namespace

EventScan ScanEventsAvx512(EventScanState& state, const char* begin, const char* end) {
  return ScanBlocks<Avx512Unit>(state, begin, end);
}

EventScan ScanLastEventAvx512(EventScanState& state, const char* begin, const char* end) {
  return ScanBlocksForLast<Avx512Unit>(state, begin, end);
}

}  // namespace tracedb
