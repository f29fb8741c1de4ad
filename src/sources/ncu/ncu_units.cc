#include "sources/ncu/ncu_units.h"

#include <array>
#include <optional>
#include <utility>

namespace tracedb {
namespace {

struct NamedUnit {
  std::string_view name;
  std::string_view base;
  int exponent;
};

constexpr std::array<NamedUnit, 16> kTimes = {{{"second", "s", 0},
                                               {"seconds", "s", 0},
                                               {"sec", "s", 0},
                                               {"s", "s", 0},
                                               {"msecond", "s", -3},
                                               {"ms", "s", -3},
                                               {"millisecond", "s", -3},
                                               {"usecond", "s", -6},
                                               {"us", "s", -6},
                                               {"\xc2\xb5s", "s", -6},  // the micro sign
                                               {"microsecond", "s", -6},
                                               {"nsecond", "s", -9},
                                               {"ns", "s", -9},
                                               {"nanosecond", "s", -9},
                                               {"B", "byte", 0},
                                               {"Hz", "hz", 0}}};

// What a prefix may stand before; "Mregister" is no unit.
constexpr std::array<std::string_view, 14> kPrefixed = {
    "byte",  "bytes",  "B",    "bit",    "hz",    "Hz",   "inst",
    "cycle", "sector", "warp", "thread", "block", "FLOP", "request"};

std::optional<int> PrefixExponent(char prefix) {
  switch (prefix) {
    case 'K':
    case 'k':
      return 3;
    case 'M':
      return 6;
    case 'G':
      return 9;
    case 'T':
      return 12;
    case 'P':
      return 15;
    case 'E':
      return 18;
    default:
      return std::nullopt;
  }
}

NcuUnit PlainUnit(std::string_view unit) {
  for (const NamedUnit& known : kTimes) {
    if (unit == known.name) return {std::string(known.base), known.exponent};
  }
  const std::optional<int> exponent = unit.empty() ? std::nullopt : PrefixExponent(unit[0]);
  if (exponent) {
    for (std::string_view base : kPrefixed) {
      if (unit.substr(1) != base) continue;
      return {PlainUnit(base).base, *exponent};  // as deep as one: no base has a prefix
    }
  }
  return {std::string(unit), 0};
}

}  // namespace

NcuUnit BaseUnitOf(std::string_view unit) {
  const size_t slash = unit.find('/');
  if (slash == std::string_view::npos) return PlainUnit(unit);
  NcuUnit of = PlainUnit(unit.substr(0, slash));
  const NcuUnit by = PlainUnit(unit.substr(slash + 1));
  of.base += "/" + by.base;
  of.exponent -= by.exponent;
  return of;
}

}  // namespace tracedb
