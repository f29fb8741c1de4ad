// Compiled with -mavx2 -mpclmul -mbmi2; called only where the processor has all three.
#include <immintrin.h>

#include "ingest/frame/event_scan_blocks.h"

namespace tracedb {
namespace {

struct Avx2Unit {
  static uint64_t Equal(__m256i low, __m256i high, char byte) {
    const __m256i wanted = _mm256_set1_epi8(byte);
    const auto low_bits =
        static_cast<uint32_t>(_mm256_movemask_epi8(_mm256_cmpeq_epi8(low, wanted)));
    const auto high_bits =
        static_cast<uint32_t>(_mm256_movemask_epi8(_mm256_cmpeq_epi8(high, wanted)));
    return uint64_t{high_bits} << 32 | low_bits;
  }

  static BlockMasks Masks(const char* block) {
    const __m256i low = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(block));
    const __m256i high = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(block + 32));
    const __m256i bit = _mm256_set1_epi8(0x20);  // folds [ onto { and ] onto }
    const __m256i low_folded = _mm256_or_si256(low, bit);
    const __m256i high_folded = _mm256_or_si256(high, bit);
    return {Equal(low, high, '"'), Equal(low, high, '\\'), Equal(low_folded, high_folded, '{'),
            Equal(low_folded, high_folded, '}')};
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

EventScan ScanEventsAvx2(EventScanState& state, const char* begin, const char* end) {
  return ScanBlocks<Avx2Unit>(state, begin, end);
}

EventScan ScanLastEventAvx2(EventScanState& state, const char* begin, const char* end) {
  return ScanBlocksForLast<Avx2Unit>(state, begin, end);
}

}  // namespace tracedb
