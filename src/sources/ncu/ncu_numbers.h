// Numbers as Nsight Compute writes them, in the form of the locale that it ran in:
//
//   67,116,800    two separators of one kind part thousands: the other kind is the decimal one
//   9,00          not three digits after it: it is the decimal one
//   1.234,5       the last of two kinds is the decimal one
//   1,234         one thousand, or a little more than one: the rest of the file must tell
//
// A file has one locale, so the first number that can be read in one way only decides for all.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "sources/read/text_words.h"

namespace tracedb {

enum class DecimalMark { kUnknown, kPoint, kComma };

enum class NumberForm {
  kNoNumber,  // "n/a", "CachePreferNone", "1.2.3"
  kNumber,
  kAmbiguous,  // two readings, and no decimal mark is known
  kContrary,   // one reading, with the other decimal mark
};

struct NumberReading {
  NumberForm form = NumberForm::kNoNumber;
  std::string plain;                            // of a kNumber: "-1234.5e6"
  DecimalMark implied = DecimalMark::kUnknown;  // what the text alone says of the file
};

NumberReading ReadNumber(std::string_view text, DecimalMark mark);

// What an ambiguous text implies if its number is known to be whole, such as a count of bytes.
DecimalMark MarkIfWhole(std::string_view text);

double RealNumber(std::string_view plain, int exponent = 0);  // plain * 10^exponent
// plain * 10^exponent seconds; none: so many do not fit.
std::optional<int64_t> Nanoseconds(std::string_view plain, int exponent);

// Whether SQLite gives `text` back as the text of this number.
bool IsTextOf(std::string_view text, double value);

}  // namespace tracedb
