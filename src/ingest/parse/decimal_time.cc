#include "ingest/parse/decimal_time.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <limits>
#include <string>

namespace tracedb {
namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// The digits of a number, without zeros in front.
class Digits {
 public:
  bool Add(char digit) {
    any_ = true;
    if (size_ == 0 && digit == '0') return true;
    if (size_ == kDigitsMax) return false;
    digits_[size_++] = digit;
    return true;
  }
  bool any() const { return any_; }

  // Times 10^exponent, rounded half away from zero, where that is an int64.
  std::optional<int64_t> Scaled(int64_t exponent, bool negative) const {
    if (size_ == 0) return 0;
    size_t kept = size_;
    bool round_up = false;
    if (exponent < 0) {
      const auto drop = static_cast<size_t>(-exponent);
      if (drop > size_) return 0;
      kept = size_ - drop;
      round_up = digits_[kept] >= '5';
      exponent = 0;
    }
    if (kept > 0 && kept + static_cast<size_t>(exponent) > 20) return std::nullopt;
    uint64_t value = 0;
    for (size_t i = 0; i < kept + static_cast<size_t>(kept > 0 ? exponent : 0); ++i) {
      const auto digit = static_cast<uint64_t>(i < kept ? digits_[i] - '0' : 0);
      if (__builtin_mul_overflow(value, uint64_t{10}, &value)) return std::nullopt;
      if (__builtin_add_overflow(value, digit, &value)) return std::nullopt;
    }
    // One more below zero than above.
    const uint64_t value_max =
        static_cast<uint64_t>(std::numeric_limits<int64_t>::max()) + (negative ? 1 : 0);
    if (value > value_max - (round_up ? 1 : 0)) return std::nullopt;
    value += round_up ? 1 : 0;
    return static_cast<int64_t>(negative ? 0 - value : value);
  }

 private:
  static constexpr size_t kDigitsMax = 400;
  std::array<char, kDigitsMax> digits_;  // the first size_ of them
  size_t size_ = 0;
  bool any_ = false;
};

}  // namespace

std::optional<int64_t> OddMicrosToNs(std::string_view text) {
  const bool minus = text.starts_with('-');
  if (minus || text.starts_with('+')) text.remove_prefix(1);
  Digits digits;
  size_t at = 0;
  for (; at < text.size() && IsDigit(text[at]); ++at) {
    if (!digits.Add(text[at])) return std::nullopt;
  }
  int64_t exponent = 3;  // microseconds to nanoseconds
  if (at < text.size() && text[at] == '.') {
    ++at;
    if (text.substr(at).starts_with('-')) {
      // "-5.-123" and "0.-50": quotient and remainder of negative nanoseconds, each with its sign.
      const std::string_view rest = text.substr(at + 1);
      if (!digits.any() || rest.empty() || rest.size() > 3) return std::nullopt;
      if (!std::all_of(rest.begin(), rest.end(), IsDigit)) return std::nullopt;
      for (size_t i = rest.size(); i < 3; ++i) {
        if (!digits.Add('0')) return std::nullopt;
      }
      for (const char digit : rest) {
        if (!digits.Add(digit)) return std::nullopt;
      }
      return digits.Scaled(0, true);
    }
    for (; at < text.size() && IsDigit(text[at]); ++at) {
      if (!digits.Add(text[at])) return std::nullopt;
      --exponent;
    }
  }
  if (!digits.any()) return std::nullopt;
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
  return digits.Scaled(exponent, minus);
}

}  // namespace tracedb
