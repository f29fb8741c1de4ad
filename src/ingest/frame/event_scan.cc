#include "ingest/frame/event_scan.h"

#include "ingest/frame/event_scan_blocks.h"

namespace tracedb {
namespace {

// Eight bytes at a time in an ordinary register: for processors without AVX2.
struct PortableUnit {
  // One bit for each byte of `word` that is equal to `byte`.
  static uint64_t Equal(uint64_t word, uint8_t byte) {
    constexpr uint64_t kOnes = 0x0101010101010101;
    constexpr uint64_t kLow7 = 0x7f7f7f7f7f7f7f7f;
    const uint64_t difference = word ^ kOnes * byte;
    const uint64_t zero = ~(((difference & kLow7) + kLow7) | difference | kLow7);
    return (zero >> 7) * 0x0102040810204080 >> 56;
  }

  static BlockMasks Masks(const char* block) {
    BlockMasks masks{};
    for (int i = 0; i < 8; ++i) {
      uint64_t word;
      std::memcpy(&word, block + 8 * i, sizeof word);
      const int shift = 8 * i;
      masks.quote |= Equal(word, '"') << shift;
      masks.backslash |= Equal(word, '\\') << shift;
      const uint64_t folded = word | 0x2020202020202020;  // [ becomes {, ] becomes }
      masks.open |= Equal(folded, '{') << shift;
      masks.close |= Equal(folded, '}') << shift;
    }
    return masks;
  }

  static uint64_t PrefixXor(uint64_t bits) {
    for (int shift = 1; shift < 64; shift *= 2) bits ^= bits << shift;
    return bits;
  }

  // The bits of `bits` at `places`, moved together.
  static uint64_t Compress(uint64_t bits, uint64_t places) {
    uint64_t together = 0;
    for (int count = 0; places != 0; places &= places - 1, ++count) {
      together |= (bits >> std::countr_zero(places) & 1) << count;
    }
    return together;
  }

  // The reverse, for one bit.
  static uint64_t Expand(uint64_t bit, uint64_t places) {
    for (int count = std::countr_zero(bit); count > 0; --count) places &= places - 1;
    return places & (~places + 1);
  }
};

using Scan = EventScan (*)(EventScanState&, const char*, const char*);
struct Scans {
  Scan all;
  Scan last;
};

Scans WidestScans() {
#if defined(__x86_64__)
  __builtin_cpu_init();
  const bool both = __builtin_cpu_supports("pclmul") && __builtin_cpu_supports("bmi2");
  if (__builtin_cpu_supports("avx512bw") && both) {
    return {ScanEventsAvx512, ScanLastEventAvx512};
  }
  if (__builtin_cpu_supports("avx2") && both) return {ScanEventsAvx2, ScanLastEventAvx2};
#endif
  return {ScanEventsPortable, ScanLastEventPortable};
}

const Scans& Widest() {
  static const Scans scans = WidestScans();
  return scans;
}

}  // namespace

EventScan ScanEventsPortable(EventScanState& state, const char* begin, const char* end) {
  return ScanBlocks<PortableUnit>(state, begin, end);
}

EventScan ScanLastEventPortable(EventScanState& state, const char* begin, const char* end) {
  return ScanBlocksForLast<PortableUnit>(state, begin, end);
}

EventScan ScanEvents(EventScanState& state, const char* begin, const char* end) {
  return Widest().all(state, begin, end);
}

EventScan ScanLastEvent(EventScanState& state, const char* begin, const char* end) {
  return Widest().last(state, begin, end);
}

}  // namespace tracedb
