// Decimal microseconds, as traces write times, to whole nanoseconds: exact, never through a
// floating-point number.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace tracedb {

// For the forms that DecimalMicrosToNs leaves: exponents, more than 18 digits, and the malformed
// "-5.-123" that some Kineto versions wrote for -5.123.
std::optional<int64_t> OddMicrosToNs(std::string_view text);

// "4329287712679.579" -> 4329287712679579. A fourth decimal rounds, half away from zero. Nothing
// when it is no number or does not fit 64 bits.
inline std::optional<int64_t> DecimalMicrosToNs(std::string_view text) {
  const char* at = text.data();
  const char* const end = at + text.size();
  const bool negative = at != end && *at == '-';
  if (negative) ++at;
  const char* const digits = at;
  int64_t value = 0;
  while (at != end && static_cast<unsigned char>(*at - '0') < 10 && at - digits < 16) {
    value = value * 10 + (*at++ - '0');
  }
  const auto count = at - digits;
  if (count == 0 || count > 15) return OddMicrosToNs(text);
  value *= 1000;
  if (at != end) {
    if (*at++ != '.') return OddMicrosToNs(text);
    int64_t unit = 100;
    for (; at != end && static_cast<unsigned char>(*at - '0') < 10; ++at, unit /= 10) {
      if (unit == 0) return OddMicrosToNs(text);
      value += (*at - '0') * unit;
    }
    if (at != end || unit == 100) return OddMicrosToNs(text);
  }
  return negative ? -value : value;
}

}  // namespace tracedb
