#include "ingest/parse/decimal_time.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <string>

namespace tracedb {
namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// digits * 10^exponent, rounded half away from zero, as int64.
std::optional<int64_t> Scaled(std::string digits, int64_t exponent, bool negative) {
  digits.erase(0, std::min(digits.find_first_not_of('0'), digits.size()));
  if (digits.empty()) return 0;
  bool round_up = false;
  if (exponent < 0) {
    const auto drop = static_cast<size_t>(-exponent);
    if (drop > digits.size()) return 0;
    round_up = digits[digits.size() - drop] >= '5';
    digits.resize(digits.size() - drop);
  } else if (exponent > 19) {
    return std::nullopt;
  } else {
    digits.append(static_cast<size_t>(exponent), '0');
  }
  uint64_t value = 0;
  if (!digits.empty()) {
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  }
  // One more below zero than above.
  const uint64_t value_max =
      static_cast<uint64_t>(std::numeric_limits<int64_t>::max()) + (negative ? 1 : 0);
  if (value > value_max - (round_up ? 1 : 0)) return std::nullopt;
  value += round_up ? 1 : 0;
  return static_cast<int64_t>(negative ? 0 - value : value);
}

}  // namespace

std::optional<int64_t> OddMicrosToNs(std::string_view text) {
  const bool minus = text.starts_with('-');
  if (minus || text.starts_with('+')) text.remove_prefix(1);
  std::string digits;
  size_t at = 0;
  for (; at < text.size() && IsDigit(text[at]); ++at) digits += text[at];
  int64_t exponent = 3;  // microseconds to nanoseconds
  if (at < text.size() && text[at] == '.') {
    ++at;
    if (text.substr(at).starts_with('-')) {
      // "-5.-123" and "0.-50": quotient and remainder of negative nanoseconds, each with its sign.
      const std::string_view rest = text.substr(at + 1);
      if (digits.empty() || rest.empty() || rest.size() > 3) return std::nullopt;
      if (!std::all_of(rest.begin(), rest.end(), IsDigit)) return std::nullopt;
      digits += std::string(3 - rest.size(), '0') + std::string(rest);
      return Scaled(std::move(digits), 0, true);
    }
    for (; at < text.size() && IsDigit(text[at]); ++at) {
      digits += text[at];
      --exponent;
    }
  }
  if (digits.empty() || digits.size() > 400) return std::nullopt;
  if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
    ++at;
    if (text.substr(at).starts_with('+')) {
      ++at;
      if (at == text.size() || !IsDigit(text[at])) return std::nullopt;
    }
    int power = 0;
    const auto [end, error] = std::from_chars(text.data() + at, text.data() + text.size(), power);
    if (error != std::errc() || std::abs(power) > 400) return std::nullopt;
    at = static_cast<size_t>(end - text.data());
    exponent += power;
  }
  if (at != text.size()) return std::nullopt;
  return Scaled(std::move(digits), exponent, minus);
}

}  // namespace tracedb
