// Decimal microseconds, as traces write times, to whole nanoseconds: exact, never through a
// floating-point number.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>

namespace tracedb {

// For the forms that DecimalMicrosToNs leaves: exponents, more digits than 64 bits hold, and the
// malformed "-5.-123" that some Kineto versions wrote for -5.123.
std::optional<int64_t> OddMicrosToNs(std::string_view text);

// Whole microseconds that fit 64 bits as nanoseconds, whatever decimals they have.
inline constexpr uint64_t kWholeMicrosMax = std::numeric_limits<int64_t>::max() / 1000 - 1;

// "4329287712679.579" -> 4329287712679579. A fourth decimal rounds, half away from zero. Nothing
// when it is no number or does not fit 64 bits.
inline std::optional<int64_t> DecimalMicrosToNs(std::string_view text) {
  const auto is_digit = [](char c) { return static_cast<unsigned char>(c - '0') < 10; };
  const char* at = text.data();
  const char* const end = at + text.size();
  const bool negative = at != end && *at == '-';
  if (negative) ++at;
  const char* const digits = at;
  uint64_t micros = 0;
  while (at != end && is_digit(*at) && at - digits < 17) {
    micros = micros * 10 + static_cast<uint64_t>(*at++ - '0');
  }
  if (at == digits || micros > kWholeMicrosMax) return OddMicrosToNs(text);
  auto value = static_cast<int64_t>(micros * 1000);
  if (at != end) {
    if (*at++ != '.') return OddMicrosToNs(text);
    const char* const decimals = at;
    int64_t unit = 100;
    for (; at != end && is_digit(*at); ++at, unit /= 10) value += (*at - '0') * unit;
    if (at != end || at == decimals) return OddMicrosToNs(text);
    if (at - decimals > 3 && decimals[3] >= '5') ++value;
  }
  return negative ? -value : value;
}

}  // namespace tracedb
