// Whether an event's text fits a layout: the loop that most of a parser's time goes into. Included
// by one source file for each vector unit, compiled with that unit's flags; hence all is in an
// unnamed namespace, so that the linker cannot swap one unit's code for another's.
#pragma once

#include <cstddef>
#include <cstdint>

#include "ingest/parse/decimal_time.h"
#include "ingest/parse/layout_pieces.h"
#include "ingest/parse/quick_digits.h"

namespace tracedb {
namespace {

// Decimal microseconds to ns. The plain form, up to 16 digits and 3 decimals, is read here: nearly
// all traces have it. Null when it is no time.
[[gnu::always_inline]] inline const char* ReadTime(const char* at, const char* end, int64_t& ns) {
  const char* const begin = at;
  const bool negative = *at == '-';
  if (negative) ++at;
  const QuickDigits whole = ReadDigits(at);
  if (whole.count == 0 || whole.count > 16 || whole.value > kWholeMicrosMax) [[unlikely]] {
    return ReadOddTime(begin, end, ns);
  }
  at += whole.count;
  uint64_t value = whole.value * 1000;
  if (*at == '.') {
    const QuickDigits decimals = ReadThousandths(++at);
    value += decimals.value;
    at += decimals.count;
    if (decimals.count == 0) [[unlikely]] {
      return ReadOddTime(begin, end, ns);
    }
  }
  // Further decimals or an exponent; a comma, a blank, a bracket or a quote is none of them.
  if (static_cast<unsigned char>(*at - '-') < 13 || (*at | 0x20) == 'e') [[unlikely]] {
    return ReadOddTime(begin, end, ns);
  }
  ns = negative ? -static_cast<int64_t>(value) : static_cast<int64_t>(value);
  return at <= end ? at : nullptr;
}

// An integer as it would be written again; null for anything else.
[[gnu::always_inline]] inline const char* ReadInt(const char* at, const char* end, int64_t& value) {
  const bool negative = *at == '-';
  if (negative) ++at;
  const QuickDigits read = ReadDigits(at);
  if (read.count == 0 || read.count > 18) return nullptr;
  if (*at == '0' && (read.count > 1 || negative)) return nullptr;
  value = negative ? -static_cast<int64_t>(read.value) : static_cast<int64_t>(read.value);
  at += read.count;
  return at <= end ? at : nullptr;
}

// `Unit` compares texts.
template <typename Unit>
[[gnu::always_inline]] inline bool FitsLiteral(const LayoutPiece& piece, const char* texts,
                                               const char* at, const char* end) {
  return static_cast<size_t>(end - at) >= piece.literal_size &&
         Unit::Same(at, texts + piece.literal_at, piece.literal_size);
}

// What FitLayout (layout_pieces.h) is, with that unit.
template <typename Unit>
const char* FitPieces(const LayoutPiece* piece, const char* texts, const char* at, const char* end,
                      FittedValues& fitted) {
  if (!FitsLiteral<Unit>(*piece, texts, at, end)) return nullptr;
  for (;;) {
    at += piece->literal_size;
    const char* const token = at;
    switch (piece->field) {
      case LayoutField::kTs:
        at = ReadTime(at, end, fitted.ts_ns);
        break;
      case LayoutField::kDur:
        at = ReadTime(at, end, fitted.dur_ns);
        break;
      case LayoutField::kInt:
        at = ReadInt(at, end, fitted.values[piece->place]);
        break;
      case LayoutField::kLargeInt:
        at = ReadInt(at, end, fitted.values[piece->place]);
        if (at != nullptr && IsFewValued(fitted.values[piece->place])) return nullptr;
        break;
      case LayoutField::kFraction:
        at = ReadFraction(at, end);
        break;
      case LayoutField::kPointer:
        at = ReadPointer(at, end);
        break;
      case LayoutField::kEnd:
        return at;
    }
    if (at == nullptr) return nullptr;
    if (piece->field >= LayoutField::kFraction) {
      fitted.texts[piece->place] = {token, static_cast<size_t>(at - token)};
    }
    ++piece;
    if (!FitsLiteral<Unit>(*piece, texts, at, end)) return nullptr;
  }
}

}  // namespace
}  // namespace tracedb
