// A layout (event_layouts.h) as it is compared with an event's text.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "tracedb/schema/args_columns.h"

namespace tracedb {

enum class LayoutField : uint8_t {
  kTs,
  kDur,
  kInt,       // under a named column: any integer
  kLargeInt,  // in a spare column: one that is not few (event_fields.cc)
  kFraction,  // in a spare column, as text
  kPointer,   // in a spare column, as text
  kEnd
};

// What is the same in all events of the layout, and the varying token after it.
struct LayoutPiece {
  uint32_t literal_at;  // in the layouts' texts
  uint32_t literal_size;
  LayoutField field;
  uint8_t place;  // of a column's value among the record's
};

// What an event that fits has for the varying tokens. Not initialised: the layout says what is set.
struct FittedValues {
  struct Text {
    const char* at;
    size_t size;
  };
  int64_t ts_ns;
  int64_t dur_ns;
  std::array<int64_t, kArgsColumns> values;
  std::array<Text, kArgsColumns> texts;
};

// How far a comparison may look past the end of what it compares.
inline constexpr size_t kLayoutPaddingBytes = 32;

// Fits the text from `at` on to a layout's pieces: returns where the event ends, or null. `end` is
// the end of the text. Picks the widest vector unit that the processor has.
using FitLayout = const char* (*)(const LayoutPiece* piece, const char* texts, const char* at,
                                  const char* end, FittedValues& fitted);
FitLayout WidestFit();

// The versions it picks from; the vectored ones exist on x86-64 only.
const char* FitLayoutPlain(const LayoutPiece* piece, const char* texts, const char* at,
                           const char* end, FittedValues& fitted);
const char* FitLayoutAvx2(const LayoutPiece* piece, const char* texts, const char* at,
                          const char* end, FittedValues& fitted);
const char* FitLayoutAvx512(const LayoutPiece* piece, const char* texts, const char* at,
                            const char* end, FittedValues& fitted);

// Tokens that are rare, from `at` on; where one ends, or null when there is none.
//
// A time in any form that is one.
const char* ReadOddTime(const char* at, const char* end, int64_t& ns);
// A number that is no integer, long enough to have a column.
const char* ReadFraction(const char* at, const char* end);
// "0x" and hexadecimal digits.
const char* ReadPointer(const char* at, const char* end);

}  // namespace tracedb
