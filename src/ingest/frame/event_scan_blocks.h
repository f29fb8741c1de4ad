// The scanning loop, for any way of getting the bit masks of a 64-byte block. Included by one
// source file for each vector unit, compiled with that unit's flags; hence all is in an unnamed
// namespace, so that the linker cannot swap one unit's code for another's.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "ingest/frame/event_scan.h"

namespace tracedb {
namespace {

struct BlockMasks {  // bit i tells of byte i
  uint64_t quote;
  uint64_t backslash;
  uint64_t open;   // { or [
  uint64_t close;  // } or ]
};

// The bytes that stand after an odd run of backslashes, i.e. are escaped. `carry` brings a
// trailing backslash from the block before, and takes one to the block after.
inline uint64_t EscapedBytes(uint64_t backslash, uint64_t& carry) {
  if (backslash == 0) {
    const uint64_t escaped = carry;
    carry = 0;
    return escaped;
  }
  constexpr uint64_t kEven = 0x5555555555555555;
  backslash &= ~carry;
  const uint64_t follows = backslash << 1 | carry;
  const uint64_t odd_starts = backslash & ~kEven & ~follows;
  uint64_t even_runs;
  carry = __builtin_add_overflow(odd_starts, backslash, &even_runs) ? 1 : 0;
  return (kEven ^ (even_runs << 1)) & follows;
}

struct BlockBrackets {
  uint64_t open;
  uint64_t close;
};

// What eight brackets do to the depth; bit i of their number tells whether the i-th closes.
struct EightBrackets {
  int8_t rise;    // the depth after all eight, less that before
  int8_t lowest;  // the lowest depth after any, less that before
  uint8_t at;     // the last of them after which it is that low
};

inline constexpr std::array<EightBrackets, 256> kEightBrackets = [] {
  std::array<EightBrackets, 256> all{};
  for (unsigned number = 0; number < 256; ++number) {
    EightBrackets& eight = all[number];
    eight.lowest = 1;
    for (uint8_t i = 0; i < 8; ++i) {
      eight.rise = static_cast<int8_t>(eight.rise + ((number >> i & 1) != 0 ? -1 : 1));
      if (eight.rise <= eight.lowest) {
        eight.lowest = eight.rise;
        eight.at = i;
      }
    }
  }
  return all;
}();

template <typename Unit>
struct BlockScanner {
  static constexpr uint64_t kLastBit = uint64_t{1} << 63;

  EventScanState& state;
  EventScan found{};

  // A block in which an event may end: up to sixteen brackets at once, without a branch, as no one
  // can guess where events end. True at the array's end.
  bool Brackets(const char* block, uint64_t open, uint64_t close) {
    const uint64_t brackets = open | close;
    const uint64_t order = Unit::Compress(close, brackets);
    const EightBrackets first = kEightBrackets[order & 255];
    const EightBrackets second = kEightBrackets[order >> 8 & 255];
    const int second_lowest = first.rise + second.lowest;
    const bool in_second = second_lowest <= first.lowest;
    const int64_t lowest = state.depth + (in_second ? second_lowest : first.lowest);
    const bool ends = lowest == 0;
    // The first end may not be the last of its block.
    if (order >> 16 != 0 || lowest < 0 || (ends && found.first_end == nullptr)) [[unlikely]] {
      return Walk(block, open, close);
    }
    const uint64_t at = uint64_t{1} << (in_second ? 8 + second.at : first.at);
    const char* const end = block + std::countr_zero(Unit::Expand(at, brackets) | kLastBit) + 1;
    found.last_end = ends ? end : found.last_end;
    state.depth += std::popcount(open) - std::popcount(close);
    return false;
  }

  // The same, bracket by bracket.
  bool Walk(const char* block, uint64_t open, uint64_t close) {
    for (uint64_t brackets = open | close; brackets != 0; brackets &= brackets - 1) {
      const int at = std::countr_zero(brackets);
      if ((open >> at & 1) != 0) {
        ++state.depth;
        continue;
      }
      if (--state.depth == 0) {
        found.last_end = block + at + 1;
        if (found.first_end == nullptr) found.first_end = found.last_end;
      }
      if (state.depth < 0) {
        found.array_end = block + at;
        return true;
      }
    }
    return false;
  }

  // The brackets outside of strings of the next block. `length` of its 64 bytes are text, blanks
  // follow.
  BlockBrackets Next(const char* block, size_t length) {
    const BlockMasks masks = Unit::Masks(block);
    uint64_t carry = state.escape_next;
    const uint64_t escaped = EscapedBytes(masks.backslash, carry);
    state.escape_next = length == 64 ? carry : escaped >> length & 1;
    const uint64_t inside = Unit::PrefixXor(masks.quote & ~escaped) ^ state.in_string;
    state.in_string = static_cast<uint64_t>(static_cast<int64_t>(inside) >> 63);
    return {masks.open & ~inside, masks.close & ~inside};
  }

  // `bytes` is where the text really is (for the pointers handed out). True at the array's end.
  bool Block(const char* block, const char* bytes, size_t length) {
    const auto [open, close] = Next(block, length);
    const int closing = std::popcount(close);
    if (state.depth > closing) [[likely]] {
      state.depth += std::popcount(open) - closing;
    } else if (Brackets(bytes, open, close)) {
      return true;
    }
    if (state.depth > found.depth_max) found.depth_max = state.depth;
    return false;
  }

  void Run(const char* begin, const char* end) {
    EachBlock(begin, end, [this](const char* block, const char* bytes, size_t length) {
      return Block(block, bytes, length);
    });
  }

  // Until `take` says true.
  template <typename Take>
  static bool EachBlock(const char* begin, const char* end, Take take) {
    const char* at = begin;
    for (; end - at >= 64; at += 64) {
      if (take(at, at, size_t{64})) return true;
    }
    if (at == end) return false;
    char last[64];
    std::memset(last, ' ', sizeof last);
    std::memcpy(last, at, static_cast<size_t>(end - at));
    return take(last, at, static_cast<size_t>(end - at));
  }
};

template <typename Unit>
EventScan ScanBlocks(EventScanState& state, const char* begin, const char* end) {
  BlockScanner<Unit> scanner{state};
  scanner.Run(begin, end);
  return scanner.found;
}

// What a part is gone through for first: not where events end in it.
struct QuickScan {
  EventScanState state;  // after it
  int64_t depth_max = 0;
  bool may_end = false;    // an event may end in it
  bool may_leave = false;  // the array may: no more is known then
};

// Not inlined: in a function of its own all of it stays in registers.
template <typename Unit>
[[gnu::noinline]] QuickScan ScanQuickly(const EventScanState& before, const char* begin,
                                        const char* end) {
  EventScanState state = before;
  int64_t depth_max = 0;
  bool may_end = false;
  const bool may_leave =
      BlockScanner<Unit>::EachBlock(begin, end, [&](const char* block, const char*, size_t length) {
        const auto [open, close] = BlockScanner<Unit>{state}.Next(block, length);
        const int closing = std::popcount(close);
        may_end |= state.depth <= closing;  // without a branch
        if (state.depth < closing) [[unlikely]] {
          int rise = 0;
          int lowest = 0;
          for (uint64_t order = Unit::Compress(close, open | close); order != 0; order >>= 8) {
            const EightBrackets eight = kEightBrackets[order & 255];
            lowest = std::min(lowest, rise + eight.lowest);
            rise += eight.rise;
          }
          if (state.depth + lowest < 0) return true;
        }
        state.depth += std::popcount(open) - closing;
        depth_max = std::max(depth_max, state.depth);
        return false;
      });
  return {state, depth_max, may_end, may_leave};
}

// The same without the first end. Where events end cannot be guessed, which costs more than the
// rest: only the last part in which one may end is gone through once more for it.
template <typename Unit>
class LastEndScan {
 public:
  explicit LastEndScan(EventScanState& state) : state_(state) {}

  EventScan Run(const char* begin, const char* end) {
    for (const char* from = begin; from < end && found_.array_end == nullptr;) {
      const char* const to = from + std::min<ptrdiff_t>(end - from, kPartBytes * kParts);
      Parts(from, to);
      from = to;
    }
    return found_;
  }

 private:
  static constexpr ptrdiff_t kPartBytes = 2048;
  static constexpr size_t kParts = 32;
  struct Part {
    EventScanState state;  // before it
    const char* begin;
    const char* end;
  };

  void Parts(const char* begin, const char* end) {
    size_t count = 0;  // of parts in which an event may end
    for (const char* from = begin; from < end; from += kPartBytes) {
      Part& part = may_end_[count];
      part = {state_, from, from + std::min(end - from, kPartBytes)};
      const QuickScan quick = ScanQuickly<Unit>(state_, part.begin, part.end);
      state_ = quick.may_leave ? part.state : quick.state;
      int64_t depth_max = quick.depth_max;
      if (quick.may_leave) {
        const EventScan found = Again(part, state_);
        found_.array_end = found.array_end;
        depth_max = found.depth_max;
      }
      found_.depth_max = std::max(found_.depth_max, depth_max);
      if (quick.may_leave || quick.may_end) ++count;
      if (found_.array_end != nullptr) break;
    }
    while (count > 0) {
      EventScanState state = may_end_[--count].state;
      const char* const last_end = Again(may_end_[count], state).last_end;
      if (last_end == nullptr) continue;
      found_.last_end = last_end;
      return;
    }
  }

  static EventScan Again(const Part& part, EventScanState& state) {
    BlockScanner<Unit> scanner{state};
    scanner.Run(part.begin, part.end);
    return scanner.found;
  }

  EventScanState& state_;
  EventScan found_;
  std::array<Part, kParts> may_end_;
};

template <typename Unit>
EventScan ScanBlocksForLast(EventScanState& state, const char* begin, const char* end) {
  return LastEndScan<Unit>(state).Run(begin, end);
}

}  // namespace
}  // namespace tracedb
