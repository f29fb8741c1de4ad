#include "cut/time_text.h"

#include <array>
#include <charconv>

namespace tracedb {
namespace {

constexpr int64_t kNsPerSecond = 1'000'000'000;

std::optional<int64_t> WholeNumber(std::string_view text) {
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool all = error == std::errc() && end == text.data() + text.size();
  return all && number >= 0 ? std::optional(number) : std::nullopt;
}

// Takes the unit off the end; 0 when there is none.
int64_t TakeUnit(std::string_view& text) {
  struct Unit {
    std::string_view name;
    int64_t ns;
  };
  constexpr std::array<Unit, 4> kUnits = {
      {{"ns", 1}, {"us", 1'000}, {"ms", 1'000'000}, {"s", kNsPerSecond}}};
  for (const Unit& unit : kUnits) {
    if (!text.ends_with(unit.name)) continue;
    text.remove_suffix(unit.name.size());
    return unit.ns;
  }
  return 0;
}

}  // namespace

std::optional<TimeText> ParseTimeText(std::string_view text) {
  const int64_t unit = TakeUnit(text);
  const size_t point = text.find('.');
  if (unit == 0) {
    const auto whole = WholeNumber(text);
    return whole.has_value() ? std::optional(TimeText{*whole, false}) : std::nullopt;
  }
  const auto whole = WholeNumber(text.substr(0, point));
  int64_t ns = 0;
  if (!whole.has_value() || __builtin_mul_overflow(*whole, unit, &ns)) return std::nullopt;
  if (point != std::string_view::npos) {
    const std::string_view fraction = text.substr(point + 1);
    if (fraction.empty()) return std::nullopt;
    int64_t digit_ns = unit / 10;
    for (const char c : fraction) {
      if (c < '0' || c > '9') return std::nullopt;
      if (__builtin_add_overflow(ns, (c - '0') * digit_ns, &ns)) return std::nullopt;
      digit_ns /= 10;
    }
  }
  return TimeText{ns, true};
}

void AppendMicros(std::string& out, int64_t ns) {
  std::array<char, 24> digits{};
  // Of the lowest number there is no positive one.
  const uint64_t size = ns < 0 ? 0 - static_cast<uint64_t>(ns) : static_cast<uint64_t>(ns);
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), size / 1000).ptr;
  if (ns < 0) out += '-';
  out.append(digits.data(), end);
  const uint64_t rest = size % 1000;
  out += '.';
  out += static_cast<char>('0' + rest / 100);
  out += static_cast<char>('0' + rest / 10 % 10);
  out += static_cast<char>('0' + rest % 10);
}

}  // namespace tracedb
