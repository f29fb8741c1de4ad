#include "ingest/parse/layout_pieces.h"

#include <cctype>
#include <cstring>
#include <string_view>

#include "ingest/parse/decimal_time.h"
#include "ingest/parse/layout_pieces_fit.h"
#include "tracedb/json/json_check.h"

namespace tracedb {
namespace {

struct PlainCompare {
  static bool Same(const char* a, const char* b, size_t size) { return SameBytes(a, b, size); }
};

bool IsDigit(char c) { return static_cast<unsigned char>(c - '0') < 10; }

const char* NumberEnd(const char* at, const char* end) {
  while (at != end && *at != '\0' && (IsDigit(*at) || std::strchr("+-.eE", *at) != nullptr)) ++at;
  return at;
}

}  // namespace

const char* ReadOddTime(const char* at, const char* end, int64_t& ns) {
  const char* const number_end = NumberEnd(at, end);
  // As the parser has it: ".5" is no number, nor is "-.5".
  const char* const digit = at != end && *at == '-' ? at + 1 : at;
  if (digit == end || !IsDigit(*digit)) return nullptr;
  const auto value = DecimalMicrosToNs({at, static_cast<size_t>(number_end - at)});
  if (!value.has_value()) return nullptr;
  ns = *value;
  return number_end;
}

const char* ReadFraction(const char* at, const char* end) {
  const char* const number_end = NumberEnd(at, end);
  const std::string_view token(at, static_cast<size_t>(number_end - at));
  const bool whole = token.find_first_not_of("0123456789", token.starts_with('-') ? 1 : 0) ==
                     std::string_view::npos;
  return !whole && token.size() > 3 && IsJsonNumber(token) ? number_end : nullptr;
}

const char* ReadPointer(const char* at, const char* end) {
  const char* const begin = at;
  if (end - at < 5 || at[0] != '0' || at[1] != 'x') return nullptr;
  for (at += 2; at != end && std::isxdigit(static_cast<unsigned char>(*at)) != 0;) ++at;
  return at - begin >= 5 ? at : nullptr;
}

const char* FitLayoutPlain(const LayoutPiece* piece, const char* texts, const char* at,
                           const char* end, FittedValues& fitted) {
  return FitPieces<PlainCompare>(piece, texts, at, end, fitted);
}

FitLayout WidestFit() {
#if defined(__x86_64__)
  __builtin_cpu_init();
  const bool bits = __builtin_cpu_supports("bmi2") != 0;
  if (__builtin_cpu_supports("avx512bw") && bits) return FitLayoutAvx512;
  if (__builtin_cpu_supports("avx2") && bits) return FitLayoutAvx2;
#endif
  return FitLayoutPlain;
}

}  // namespace tracedb
