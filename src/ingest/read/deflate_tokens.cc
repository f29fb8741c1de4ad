#include "ingest/read/deflate_tokens.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

namespace tracedb {
namespace {

// Little endian, as Deflate has it.
uint64_t Load64(const uint8_t* at) {
  uint64_t value;
  std::memcpy(&value, at, sizeof value);
  if constexpr (std::endian::native == std::endian::big) value = __builtin_bswap64(value);
  return value;
}

// What is decoded between two looks at the room for it: three literals, or some and a copy.
constexpr size_t kTokensAtATime = 2;
constexpr size_t kLiteralsAtATime = 4;

constexpr uint32_t kNoCopy = 0;

constexpr std::array<uint8_t, 19> kLengthOrder = {16, 17, 18, 0, 8,  7, 9,  6, 10, 5,
                                                  11, 4,  12, 3, 13, 2, 14, 1, 15};

// Of four lengths of 3 bits each: how much of all codes of up to 7 bits they use, in 128ths.
constexpr std::array<uint16_t, 4096> kUsedOfCodes = [] {
  std::array<uint16_t, 4096> used{};
  for (uint32_t four = 0; four < used.size(); ++four) {
    for (uint32_t left = four, i = 0; i < 4; ++i, left >>= 3) {
      if ((left & 7) != 0) used[four] = static_cast<uint16_t>(used[four] + (128 >> (left & 7)));
    }
  }
  return used;
}();

}  // namespace

DeflateDecoder::Input::Input(std::span<const uint8_t> data, uint64_t bit)
    : begin(data.data()), at(begin + bit / 8), end(begin + data.size()) {
  Refill();
  Drop(static_cast<unsigned>(bit % 8));
}

inline void DeflateDecoder::Input::Refill() {
  left |= Load64(at) << count;
  at += (63 - count) >> 3;
  count |= 56;
}

void DeflateDecoder::Decode(std::span<const uint8_t> data, uint64_t begin_bit, uint64_t until_bit,
                            DeflateTokens& into) {
  into.begin_bit = into.end_bit = begin_bit;
  into.token_count = into.literal_count = run_begin_ = 0;
  if (begin_bit >= data.size() * 8) return;
  Input input(data, begin_bit);
  size_t tokens = 0;
  size_t literals = 0;
  while (into.end_bit < until_bit && DecodeBlock(input, into) && EndRun(into) &&
         input.Position() <= data.size() * 8) {
    into.end_bit = input.Position();
    tokens = into.token_count;
    literals = into.literal_count;
  }
  into.token_count = tokens;
  into.literal_count = literals;
}

// What is in no token yet goes to tokens without copies. False: there is no room for them.
bool DeflateDecoder::EndRun(DeflateTokens& into) {
  while (run_begin_ < into.literal_count) {
    const size_t run =
        std::min<size_t>(into.literal_count - run_begin_, DeflateToken::kLiteralsMax);
    if (into.token_count == into.tokens.size()) return false;
    into.tokens[into.token_count++] = DeflateToken::Of(static_cast<uint32_t>(run), kNoCopy, 1);
    run_begin_ += run;
  }
  return true;
}

bool DeflateDecoder::DecodeBlock(Input& input, DeflateTokens& into) {
  if (input.IsOver()) return false;
  input.Refill();
  const bool is_last = input.Take(1) != 0;
  if (is_last) return false;
  switch (input.Take(2)) {
    case 0:
      return DecodeStored(input, into);
    case 1:
      codes_.SetFixed();
      return DecodeCoded(input, into);
    case 2:
      return ReadCodes(input) && DecodeCoded(input, into);
    default:
      return false;
  }
}

bool DeflateDecoder::DecodeStored(Input& input, DeflateTokens& into) {
  const uint8_t* at = input.begin + (input.Position() + 7) / 8;
  constexpr ptrdiff_t kSizeBytes = 4;
  if (input.end - at < kSizeBytes) return false;
  const uint64_t sizes = Load64(at);
  const size_t size = sizes & 0xffff;
  if ((sizes >> 16 & 0xffff) != (size ^ 0xffff)) return false;
  at += kSizeBytes;
  if (static_cast<size_t>(input.end - at) < size) return false;
  if (into.literal_count + size + DeflateTokens::kSlackBytes > into.literals.size()) return false;
  std::memcpy(into.literals.data() + into.literal_count, at, size);
  into.literal_count += size;
  input = Input({input.begin, input.end}, static_cast<uint64_t>(at + size - input.begin) * 8);
  return true;
}

bool DeflateDecoder::DecodeCoded(Input& input, DeflateTokens& into) {
  Input in = input;
  if (into.tokens.size() < kTokensAtATime ||
      into.literals.size() < into.literal_count + kLiteralsAtATime + DeflateTokens::kSlackBytes) {
    return false;
  }
  DeflateToken* token = into.tokens.data() + into.token_count;
  uint8_t* literal = into.literals.data() + into.literal_count;
  const uint8_t* run = into.literals.data() + run_begin_;  // those that are in no token yet
  const DeflateToken* const token_limit = into.tokens.data() + into.tokens.size() - kTokensAtATime;
  const uint8_t* const room_limit =
      into.literals.data() + into.literals.size() - kLiteralsAtATime - DeflateTokens::kSlackBytes;
  const auto run_limit = [&] {
    return std::min(room_limit, run + DeflateToken::kLiteralsMax - kLiteralsAtATime);
  };
  const uint8_t* literal_limit = run_limit();
  for (;;) {
    if (in.IsOver() || token > token_limit) return false;
    if (literal > literal_limit) [[unlikely]] {
      if (literal > room_limit) return false;
      *token++ = DeflateToken::Of(static_cast<uint32_t>(literal - run), kNoCopy, 1);
      run = literal;
      literal_limit = run_limit();
    }
    in.Refill();
    DeflateEntry entry = codes_.Literal(in.left);
    for (int i = 0; i < 2 && (entry & DeflateCodes::kLiteral) != 0; ++i) {
      in.Drop(DeflateBits(entry));
      *literal++ = static_cast<uint8_t>(DeflateBase(entry));
      entry = codes_.Literal(in.left);
    }
    const uint32_t bits = DeflateBits(entry);
    if (bits == 0) return false;
    if ((entry & DeflateCodes::kLiteral) != 0) {
      in.Drop(bits);
      *literal++ = static_cast<uint8_t>(DeflateBase(entry));
      continue;
    }
    const uint64_t length_bits = in.left & ((uint64_t{1} << bits) - 1);
    in.Drop(bits);
    if ((entry & DeflateCodes::kEnd) != 0) break;
    const uint32_t length =
        DeflateBase(entry) + static_cast<uint32_t>(length_bits >> DeflateCodeBits(entry));
    in.Refill();
    entry = codes_.Distance(in.left);
    const uint32_t distance_bits = DeflateBits(entry);
    if (distance_bits == 0) return false;
    const auto distance = DeflateBase(entry) +
                          static_cast<uint32_t>((in.left & ((uint64_t{1} << distance_bits) - 1)) >>
                                                DeflateCodeBits(entry));
    in.Drop(distance_bits);
    *token++ = DeflateToken::Of(static_cast<uint32_t>(literal - run), length, distance);
    run = literal;
    literal_limit = run_limit();
  }
  into.token_count = static_cast<size_t>(token - into.tokens.data());
  into.literal_count = static_cast<size_t>(literal - into.literals.data());
  run_begin_ = static_cast<size_t>(run - into.literals.data());
  input = in;
  return true;
}

// A block's own codes (RFC 1951, 3.2.7).
bool DeflateDecoder::ReadCodes(Input& input) {
  input.Refill();
  const size_t literals = 257 + input.Take(5);
  const size_t distances = 1 + input.Take(5);
  const size_t lengths = 4 + input.Take(4);
  if (literals > 286 || distances > 30) return false;
  std::array<uint8_t, kLengthOrder.size()> length_bits{};
  for (size_t i = 0; i < lengths; ++i) {
    if (i == 12) {
      if (input.IsOver()) return false;
      input.Refill();
    }
    length_bits[kLengthOrder[i]] = static_cast<uint8_t>(input.Take(3));
  }
  if (!length_code_.Set(length_bits)) return false;
  std::array<uint8_t, 286 + 30> code_bits;
  for (size_t i = 0; i < literals + distances;) {
    if (input.IsOver()) return false;
    input.Refill();
    const uint8_t symbol = length_code_.Symbol(input.left);
    input.Drop(length_code_.Bits(input.left));
    if (symbol < 16) {
      code_bits[i++] = symbol;
      continue;
    }
    if (symbol == 16 && i == 0) return false;
    const uint8_t repeated = symbol == 16 ? code_bits[i - 1] : 0;
    const size_t count = symbol == 16   ? 3 + input.Take(2)
                         : symbol == 17 ? 3 + input.Take(3)
                                        : 11 + input.Take(7);
    if (i + count > literals + distances) return false;
    std::fill_n(code_bits.begin() + static_cast<ptrdiff_t>(i), count, repeated);
    i += count;
  }
  constexpr size_t kEndSymbol = 256;
  const std::span<const uint8_t> all(code_bits);
  return code_bits[kEndSymbol] != 0 && codes_.SetLiterals(all.first(literals)) &&
         codes_.SetDistances(all.subspan(literals, distances));
}

std::optional<uint64_t> DeflateDecoder::FindBlock(std::span<const uint8_t> data, uint64_t from_bit,
                                                  uint64_t until_bit) {
  constexpr uint64_t kHeaderBits = 17;
  until_bit = std::min<uint64_t>(until_bit, data.size() * 8);
  for (uint64_t bit = from_bit; bit < until_bit; ++bit) {
    const uint64_t header = Load64(data.data() + bit / 8) >> bit % 8;
    if ((header & 7) != 4 || (header >> 3 & 31) > 29 || (header >> 8 & 31) > 29) continue;
    const uint64_t lengths_at = bit + kHeaderBits;
    const auto lengths = static_cast<unsigned>(4 + (header >> 13 & 15));
    uint64_t length_bits = Load64(data.data() + lengths_at / 8) >> lengths_at % 8;
    length_bits &= (uint64_t{1} << 3 * lengths) - 1;
    uint32_t used = 0;
    for (; length_bits != 0; length_bits >>= 12) used += kUsedOfCodes[length_bits & 4095];
    if (used != 128) continue;
    Input input(data, bit + 3);
    if (ReadCodes(input)) return bit;
  }
  return std::nullopt;
}

}  // namespace tracedb
