#include "sources/values/pickle_scalars.h"

#include <bit>
#include <charconv>
#include <cmath>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "json/json_chars.h"
#include "sources/values/pickle_opcodes.h"

namespace tracedb {
namespace {

// The least byte first, in two's complement.
uint64_t BitsOf(std::string_view bytes, bool is_negative) {
  uint64_t bits = is_negative ? UINT64_MAX : 0;
  for (size_t i = bytes.size(); i-- > 0;) bits = bits << 8 | static_cast<unsigned char>(bytes[i]);
  return bits;
}

// The number that `text` begins with in hexadecimal digits, exactly so many; null: it does not.
std::optional<int32_t> TakeHex(std::string_view text, size_t digits) {
  uint32_t value = 0;
  if (text.size() < digits) return std::nullopt;
  const char* const end = text.data() + digits;
  const auto parsed = std::from_chars(text.data(), end, value, 16);
  if (parsed.ec != std::errc{} || parsed.ptr != end) return std::nullopt;
  return value <= 0x10ffff ? std::optional(static_cast<int32_t>(value)) : std::nullopt;
}

// Python's raw-unicode-escape: a byte is a character up to U+00FF, \uXXXX and \UXXXXXXXX others.
std::string OfRawUnicode(std::string_view text) {
  std::string out;
  for (size_t at = 0; at < text.size(); ++at) {
    const std::string_view rest = text.substr(at);
    const size_t digits = rest.starts_with("\\u") ? 4 : rest.starts_with("\\U") ? 8 : 0;
    const auto code = digits == 0 ? std::nullopt : TakeHex(rest.substr(2), digits);
    AppendUtf8(out, code ? *code : static_cast<unsigned char>(text[at]));
    if (code) at += digits + 1;
  }
  return out;
}

// What Python 2 writes as repr(): the inside of the quotes.
std::string OfRepr(std::string_view text) {
  constexpr std::string_view kLetters = "\\'\"abfnrtv";
  constexpr std::string_view kMeanings = "\\'\"\a\b\f\n\r\t\v";
  if (text.size() >= 2) text = text.substr(1, text.size() - 2);
  std::string out;
  for (size_t at = 0; at < text.size(); ++at) {
    const char next = text[at] == '\\' && at + 1 < text.size() ? text[at + 1] : '\0';
    const auto hex = next == 'x' ? TakeHex(text.substr(at + 2), 2) : std::nullopt;
    if (const size_t escape = kLetters.find(next); escape != std::string_view::npos) {
      out += kMeanings[escape];
      ++at;
    } else if (hex) {
      out += static_cast<char>(*hex);
      at += 3;
    } else {
      out += text[at];
    }
  }
  return out;
}

Error Wrong(std::string what) { return {ErrorKind::kInput, std::move(what), ""}; }

}  // namespace

bool PickleScalars::IsScalar(unsigned char opcode) {
  switch (opcode) {
    case kBinInt:
    case kBinInt1:
    case kBinInt2:
    case kBinFloat:
    case kLong1:
    case kLong4:
    case kInt:
    case kLong:
    case kFloat:
    case kShortBinUnicode:
    case kShortBinString:
    case kShortBinBytes:
    case kBinUnicode:
    case kBinString:
    case kBinBytes:
    case kBinUnicode8:
    case kBinBytes8:
    case kUnicode:
    case kString:
      return true;
    default:
      return false;
  }
}

Result<std::optional<uint64_t>> PickleScalars::TakeCount(size_t bytes) {
  TRACEDB_TRY(bytes_.Take(bytes, scratch_));
  if (scratch_.size() < bytes) return std::optional<uint64_t>();
  return std::optional(BitsOf(scratch_, false));
}

Result<std::optional<std::string>> PickleScalars::TakeLine() {
  std::string line;
  for (;;) {
    TRACEDB_ASSIGN(byte, bytes_.Next());
    if (!byte.has_value()) return std::optional<std::string>();
    if (*byte == '\n') return std::optional(std::move(line));
    line += static_cast<char>(*byte);
    if (line.size() > kTextBytesMax) return Wrong("a line of more than 1 MiB");
  }
}

Result<std::optional<ValueId>> PickleScalars::Take(unsigned char opcode) {
  switch (opcode) {
    case kBinInt:
    case kBinInt1:
    case kBinInt2: {
      TRACEDB_ASSIGN(number, TakeCount(opcode == kBinInt ? 4 : opcode == kBinInt2 ? 2 : 1));
      if (!number.has_value()) return std::optional<ValueId>();
      const auto low = static_cast<uint32_t>(*number);
      const int64_t value = opcode == kBinInt ? int64_t{std::bit_cast<int32_t>(low)} : int64_t{low};
      return std::optional(values_.Int(value));
    }
    case kBinFloat: {
      TRACEDB_ASSIGN(bits, TakeCount(8));
      if (!bits.has_value()) return std::optional<ValueId>();
      uint64_t swapped = 0;  // the only number that begins with its greatest byte
      for (int i = 0; i < 8; ++i) swapped = swapped << 8 | (*bits >> (8 * i) & 0xFF);
      return std::optional(values_.Real(std::bit_cast<double>(swapped)));
    }
    case kLong1:
      return TakeLong(1);
    case kLong4:
      return TakeLong(4);
    case kShortBinUnicode:
    case kShortBinString:
    case kShortBinBytes:
      return TakeText(1);
    case kBinUnicode:
    case kBinString:
    case kBinBytes:
      return TakeText(4);
    case kBinUnicode8:
    case kBinBytes8:
      return TakeText(8);
    default:
      return TakeWritten(opcode);
  }
}

// Up to 8 bytes are an integer, and so is a ninth that says no more than that the number is not
// negative: addresses are written so. What is longer becomes a REAL.
Result<std::optional<ValueId>> PickleScalars::TakeLong(size_t length_bytes) {
  constexpr uint64_t kDigitsMax = 256;
  TRACEDB_ASSIGN(length, TakeCount(length_bytes));
  if (!length.has_value()) return std::optional<ValueId>();
  if (*length > kDigitsMax) return Wrong("a number of " + std::to_string(*length) + " bytes");
  TRACEDB_TRY(bytes_.Take(*length, scratch_));
  if (scratch_.size() < *length) return std::optional<ValueId>();
  const bool is_negative = !scratch_.empty() && (scratch_.back() & 0x80) != 0;
  if (scratch_.size() <= 8 || (scratch_.size() == 9 && scratch_.back() == 0)) {
    const uint64_t bits = BitsOf(std::string_view(scratch_).substr(0, 8), is_negative);
    return std::optional(values_.Int(std::bit_cast<int64_t>(bits)));
  }
  double real = is_negative ? -1 : 0;
  for (size_t i = scratch_.size(); i-- > 0;) {
    real = real * 256 + static_cast<unsigned char>(scratch_[i]);
  }
  return std::optional(std::isfinite(real) ? values_.Real(real) : values_.None());
}

Result<std::optional<ValueId>> PickleScalars::TakeText(size_t length_bytes) {
  TRACEDB_ASSIGN(length, TakeCount(length_bytes));
  if (!length.has_value()) return std::optional<ValueId>();
  if (*length > kTextBytesMax) return Wrong("a text of " + std::to_string(*length) + " bytes");
  TRACEDB_TRY(bytes_.Take(*length, scratch_));
  if (scratch_.size() < *length) return std::optional<ValueId>();
  return std::optional(values_.Text(scratch_));
}

// Of the first protocol: as a line of text.
Result<std::optional<ValueId>> PickleScalars::TakeWritten(unsigned char opcode) {
  TRACEDB_ASSIGN(line, TakeLine());
  if (!line.has_value()) return std::optional<ValueId>();
  std::string_view text = *line;
  if (opcode == kUnicode) return std::optional(values_.Text(OfRawUnicode(text)));
  if (opcode == kString) return std::optional(values_.Text(OfRepr(text)));
  if (opcode == kInt && (text == "00" || text == "01")) {
    return std::optional(values_.Bool(text == "01"));
  }
  if (text.ends_with('L')) text.remove_suffix(1);
  const char* end = text.data() + text.size();
  int64_t integer = 0;
  const auto as_integer = std::from_chars(text.data(), end, integer);
  if (as_integer.ec == std::errc{} && as_integer.ptr == end && opcode != kFloat) {
    return std::optional(values_.Int(integer));
  }
  uint64_t bits = 0;  // addresses, as in TakeLong()
  const auto as_bits = std::from_chars(text.data(), end, bits);
  if (as_bits.ec == std::errc{} && as_bits.ptr == end && opcode != kFloat) {
    return std::optional(values_.Int(std::bit_cast<int64_t>(bits)));
  }
  double real = 0;
  const auto as_real = std::from_chars(text.data(), end, real);
  if (as_real.ec != std::errc{} || as_real.ptr != end) {
    return Wrong("no number: " + std::string(text.substr(0, 40)));
  }
  return std::optional(values_.Real(real));
}

}  // namespace tracedb
