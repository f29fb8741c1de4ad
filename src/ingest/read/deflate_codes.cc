#include "ingest/read/deflate_codes.h"

#include <algorithm>

namespace tracedb {
namespace {

constexpr unsigned kCodeBitsMax = 15;

// How many codes have each length.
using CodeCounts = std::array<uint32_t, kCodeBitsMax + 1>;

CodeCounts CountCodes(std::span<const uint8_t> code_bits) {
  CodeCounts counts{};
  for (const uint8_t bits : code_bits) ++counts[bits];
  counts[0] = 0;
  return counts;
}

// Whether every sequence of bits begins with one of the codes.
bool IsComplete(const CodeCounts& counts) {
  uint32_t used = 0;
  for (unsigned bits = 1; bits <= kCodeBitsMax; ++bits)
    used += counts[bits] << (kCodeBitsMax - bits);
  return used == uint32_t{1} << kCodeBitsMax;
}

uint32_t Reversed(uint32_t code, unsigned bits) {
  uint32_t reversed = 0;
  for (unsigned i = 0; i < bits; ++i) reversed |= (code >> i & 1) << (bits - 1 - i);
  return reversed;
}

// Calls `take(symbol, code, bits)` for all symbols; a code's first bit is its lowest.
template <typename Take>
void EachCode(std::span<const uint8_t> code_bits, const CodeCounts& counts, Take take) {
  std::array<uint32_t, kCodeBitsMax + 1> next{};
  for (unsigned bits = 1; bits < kCodeBitsMax; ++bits)
    next[bits + 1] = (next[bits] + counts[bits]) << 1;
  for (size_t symbol = 0; symbol < code_bits.size(); ++symbol) {
    const unsigned bits = code_bits[symbol];
    if (bits > 0) take(symbol, Reversed(next[bits]++, bits), bits);
  }
}

// `entry_of(symbol, bits)`.
template <typename EntryOf>
void Fill(std::span<const uint8_t> code_bits, const CodeCounts& counts, unsigned index_bits,
          DeflateEntry* table, EntryOf entry_of) {
  const uint32_t index_mask = (uint32_t{1} << index_bits) - 1;
  std::array<uint8_t, 1 << DeflateCodes::kLiteralIndexBits> longest;  // of longer codes
  bool any_longer = false;
  for (unsigned bits = index_bits + 1; bits <= kCodeBitsMax; ++bits) any_longer |= counts[bits] > 0;
  if (any_longer) {
    std::fill_n(longest.begin(), index_mask + 1, uint8_t{0});
    EachCode(code_bits, counts, [&](size_t, uint32_t code, unsigned bits) {
      if (bits <= index_bits) return;
      longest[code & index_mask] = std::max(longest[code & index_mask], static_cast<uint8_t>(bits));
    });
    uint32_t at = index_mask + 1;
    for (uint32_t i = 0; i <= index_mask; ++i) {
      if (longest[i] == 0) continue;
      const uint32_t more = longest[i] - index_bits;
      table[i] = at << 16 | more << 8 | DeflateCodes::kLonger;
      at += uint32_t{1} << more;
    }
  }
  EachCode(code_bits, counts, [&](size_t symbol, uint32_t code, unsigned bits) {
    const DeflateEntry entry = entry_of(symbol, bits);
    if (bits <= index_bits) {
      for (uint32_t i = code; i <= index_mask; i += uint32_t{1} << bits) table[i] = entry;
      return;
    }
    const DeflateEntry longer = table[code & index_mask];
    const uint32_t count = uint32_t{1} << DeflateCodeBits(longer);
    for (uint32_t i = code >> index_bits; i < count; i += uint32_t{1} << (bits - index_bits)) {
      table[DeflateBase(longer) + i] = entry;
    }
  });
}

DeflateEntry EntryOf(uint32_t base, uint32_t extra_bits, unsigned bits) {
  return base << 16 | bits << 8 | (bits + extra_bits);
}

DeflateEntry LiteralEntry(size_t symbol, unsigned bits) {
  if (symbol < 256) return DeflateCodes::kLiteral | EntryOf(static_cast<uint32_t>(symbol), 0, bits);
  if (symbol == 256) return DeflateCodes::kEnd | EntryOf(0, 0, bits);
  if (symbol > 285) return 0;
  if (symbol == 285) return EntryOf(258, 0, bits);
  const auto place = static_cast<uint32_t>(symbol - 257);
  if (place < 8) return EntryOf(3 + place, 0, bits);
  const uint32_t extra = place / 4 - 1;
  return EntryOf(3 + ((4 + place % 4) << extra), extra, bits);
}

DeflateEntry DistanceEntry(size_t symbol, unsigned bits) {
  if (symbol > 29) return 0;
  const auto place = static_cast<uint32_t>(symbol);
  if (place < 4) return EntryOf(1 + place, 0, bits);
  const uint32_t extra = place / 2 - 1;
  return EntryOf(1 + ((2 + place % 2) << extra), extra, bits);
}

}  // namespace

bool DeflateCodes::SetLiterals(std::span<const uint8_t> code_bits) {
  const CodeCounts counts = CountCodes(code_bits);
  if (!IsComplete(counts)) return false;
  Fill(code_bits, counts, kLiteralIndexBits, literals_.data(), LiteralEntry);
  return true;
}

bool DeflateCodes::SetDistances(std::span<const uint8_t> code_bits) {
  const CodeCounts counts = CountCodes(code_bits);
  if (!IsComplete(counts)) {
    const size_t codes =
        code_bits.size() - static_cast<size_t>(std::count(code_bits.begin(), code_bits.end(), 0));
    if (codes != counts[1] || codes > 1) return false;
    std::fill_n(distances_.begin(), 1 << kDistanceIndexBits, DeflateEntry{0});
  }
  Fill(code_bits, counts, kDistanceIndexBits, distances_.data(), DistanceEntry);
  return true;
}

void DeflateCodes::SetFixed() {
  std::array<uint8_t, kLiteralCodes> literals;
  std::fill_n(literals.begin(), 144, uint8_t{8});
  std::fill_n(literals.begin() + 144, 112, uint8_t{9});
  std::fill_n(literals.begin() + 256, 24, uint8_t{7});
  std::fill_n(literals.begin() + 280, 8, uint8_t{8});
  SetLiterals(literals);
  std::array<uint8_t, kDistanceCodes> distances;
  distances.fill(5);
  SetDistances(distances);
}

bool DeflateLengthCode::Set(const std::array<uint8_t, 19>& code_bits) {
  const CodeCounts counts = CountCodes(code_bits);
  if (!IsComplete(counts)) return false;
  EachCode(code_bits, counts, [&](size_t symbol, uint32_t code, unsigned bits) {
    for (uint32_t i = code; i < entries_.size(); i += uint32_t{1} << bits) {
      entries_[i] = {static_cast<uint8_t>(symbol), static_cast<uint8_t>(bits)};
    }
  });
  return true;
}

}  // namespace tracedb
