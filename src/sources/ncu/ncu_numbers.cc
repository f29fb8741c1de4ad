#include "sources/ncu/ncu_numbers.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <system_error>

namespace tracedb {
namespace {

constexpr size_t kNumberBytesMax = 80;
constexpr int kGroupDigits = 3;

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

std::string_view WithoutBlanks(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

// The bytes of a separator that only ever parts thousands: blanks of several widths, apostrophes.
size_t ThinSeparatorBytes(std::string_view text) {
  for (std::string_view thin :
       {" ", "'", "\xc2\xa0", "\xe2\x80\xaf", "\xe2\x80\x89", "\xe2\x80\x99"}) {
    if (text.starts_with(thin)) return thin.size();
  }
  return 0;
}

// A number taken apart: digits with '.' ',' and '_' (a thin separator) between.
struct Parts {
  bool is_number = false;
  bool is_negative = false;
  std::string body;      // "1.234,5"
  std::string exponent;  // "e+06"
  size_t points = 0, commas = 0, thins = 0;
};

bool TakeExponent(std::string_view text, Parts& parts) {
  if (text.empty()) return true;
  if (text[0] != 'e' && text[0] != 'E') return false;
  size_t digits = 1;
  if (digits < text.size() && (text[digits] == '+' || text[digits] == '-')) ++digits;
  if (digits == text.size() || text.size() - digits > 3) return false;
  if (!std::all_of(text.begin() + static_cast<ptrdiff_t>(digits), text.end(), IsDigit)) {
    return false;
  }
  parts.exponent = text;
  return true;
}

Parts TakeApart(std::string_view text) {
  Parts parts;
  text = WithoutBlanks(text);
  if (text.empty() || text.size() > kNumberBytesMax) return parts;
  if (text[0] == '-' || text[0] == '+') {
    parts.is_negative = text[0] == '-';
    text.remove_prefix(1);
  }
  while (!text.empty()) {
    const size_t thin = ThinSeparatorBytes(text);
    if (!IsDigit(text[0]) && text[0] != '.' && text[0] != ',' && thin == 0) break;
    parts.body += thin > 0 ? '_' : text[0];
    parts.points += text[0] == '.';
    parts.commas += text[0] == ',';
    parts.thins += thin > 0;
    text.remove_prefix(std::max<size_t>(thin, 1));
  }
  parts.is_number =
      std::any_of(parts.body.begin(), parts.body.end(), IsDigit) && TakeExponent(text, parts);
  return parts;
}

// Whether the separators in `whole` part groups of three digits (of two, as in 1,23,45,678, in
// front of the last); the first group has one to three.
bool IsGrouped(std::string_view whole) {
  size_t group = 0;
  bool is_first = true;
  for (size_t i = 0; i <= whole.size(); ++i) {
    if (i < whole.size() && IsDigit(whole[i])) {
      ++group;
      continue;
    }
    const bool is_last = i == whole.size();
    if (is_first && is_last) return group > 0;
    if (group == 0 || group > kGroupDigits) return false;
    if (!is_first && group < (is_last ? size_t{kGroupDigits} : size_t{2})) return false;
    is_first = false;
    group = 0;
  }
  return true;
}

// Of a body with one separator in all, '.' or ','.
bool IsAmbiguous(const Parts& parts) {
  const size_t at = parts.body.find_first_of(".,");
  return parts.points + parts.commas == 1 && parts.thins == 0 && parts.exponent.empty() &&
         parts.body.size() - at - 1 == kGroupDigits && at >= 1 && at <= kGroupDigits &&
         parts.body[0] != '0';
}

DecimalMark Other(DecimalMark mark) {
  return mark == DecimalMark::kPoint ? DecimalMark::kComma : DecimalMark::kPoint;
}

DecimalMark MarkOf(char c) { return c == '.' ? DecimalMark::kPoint : DecimalMark::kComma; }

// What the body says of the file's decimal mark; of one with separators that is not ambiguous.
DecimalMark ImpliedMark(const Parts& parts) {
  if (parts.points > 0 && parts.commas > 0) {
    return MarkOf(parts.body[parts.body.find_last_of(".,")]);
  }
  const DecimalMark only = parts.points > 0 ? DecimalMark::kPoint : DecimalMark::kComma;
  return parts.points + parts.commas > 1 ? Other(only) : only;
}

// With this decimal mark; false: no number then.
bool MakePlain(const Parts& parts, DecimalMark mark, std::string& plain) {
  const char decimal = mark == DecimalMark::kComma ? ',' : '.';
  const size_t at = std::min(parts.body.find(decimal), parts.body.size());
  const std::string_view whole = std::string_view(parts.body).substr(0, at);
  const std::string_view fraction =
      at < parts.body.size() ? std::string_view(parts.body).substr(at + 1) : std::string_view();
  if (!std::all_of(fraction.begin(), fraction.end(), IsDigit)) return false;
  const bool has_groups = !std::all_of(whole.begin(), whole.end(), IsDigit);
  if (has_groups && !IsGrouped(whole)) return false;
  plain = parts.is_negative ? "-" : "";
  for (const char c : whole) {
    if (IsDigit(c)) plain += c;
  }
  if (whole.empty()) plain += '0';
  if (!fraction.empty()) plain += "." + std::string(fraction);
  plain += parts.exponent;
  return true;
}

// "12", or "0.5" in a file with points: most are such, and stand as they are.
bool IsPlain(std::string_view text, DecimalMark mark) {
  if (text.empty() || text.size() > kNumberBytesMax || !IsDigit(text[0])) return false;
  size_t at = 1;
  while (at < text.size() && IsDigit(text[at])) ++at;
  if (at == text.size()) return true;
  if (mark != DecimalMark::kPoint || text[at] != '.' || ++at == text.size()) return false;
  return std::all_of(text.begin() + static_cast<ptrdiff_t>(at), text.end(), IsDigit);
}

}  // namespace

NumberReading ReadNumber(std::string_view text, DecimalMark mark) {
  NumberReading reading;
  if (IsPlain(text, mark)) {
    reading.form = NumberForm::kNumber;
    reading.plain = text;
    return reading;
  }
  const Parts parts = TakeApart(text);
  if (!parts.is_number) return reading;
  if (parts.points + parts.commas == 0) {
    if (MakePlain(parts, DecimalMark::kPoint, reading.plain)) reading.form = NumberForm::kNumber;
    return reading;
  }
  if (IsAmbiguous(parts)) {
    reading.form = NumberForm::kAmbiguous;
    if (mark == DecimalMark::kUnknown) return reading;
  } else {
    // "1.2.3" and "1,5,2" are numbers in neither way.
    if (!MakePlain(parts, ImpliedMark(parts), reading.plain)) return reading;
    reading.implied = ImpliedMark(parts);
    reading.form = NumberForm::kNumber;
    if (mark != DecimalMark::kUnknown && mark != reading.implied) {
      reading.form = NumberForm::kContrary;
    }
    return reading;
  }
  reading.form =
      MakePlain(parts, mark, reading.plain) ? NumberForm::kNumber : NumberForm::kNoNumber;
  return reading;
}

DecimalMark MarkIfWhole(std::string_view text) {
  const Parts parts = TakeApart(text);
  if (!parts.is_number || !IsAmbiguous(parts)) return DecimalMark::kUnknown;
  return Other(parts.points > 0 ? DecimalMark::kPoint : DecimalMark::kComma);
}

std::optional<int64_t> Nanoseconds(std::string_view plain, int exponent) {
  const double ns = RealNumber(plain, exponent + 9);
  constexpr double kMost = 9e18;
  if (!(std::abs(ns) < kMost)) return std::nullopt;
  return static_cast<int64_t>(std::llround(ns));
}

double RealNumber(std::string_view plain, int exponent) {
  std::string text(plain);
  const size_t e = text.find_first_of("eE");
  if (e != std::string::npos) {
    int written = 0;
    const char* from = text.data() + e + 1;
    if (*from == '+') ++from;
    std::from_chars(from, text.data() + text.size(), written);
    exponent += written;
    text.resize(e);
  }
  text += "e" + std::to_string(exponent);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc::result_out_of_range) {
    value = exponent > 0 ? std::copysign(HUGE_VAL, text[0] == '-' ? -1.0 : 1.0) : 0.0;
  }
  (void)end;
  return value;
}

bool IsTextOf(std::string_view text, double value) {
  constexpr size_t kDigitsMax = 15;
  constexpr double kLeast = 1e-4, kMost = 1e15;  // beyond them SQLite writes exponents
  if (std::abs(value) < kLeast || std::abs(value) >= kMost) return false;
  if (text.starts_with('-')) text.remove_prefix(1);
  const size_t point = text.find('.');
  if (point == std::string_view::npos || point == 0 || point + 1 == text.size()) return false;
  if (text.size() - 1 > kDigitsMax) return false;
  if (text[0] == '0' && point > 1) return false;
  const bool only_digits =
      std::all_of(text.begin(), text.end(), [](char c) { return IsDigit(c) || c == '.'; });
  // SQLite writes 2.0 for 2, and no zeros at the end else.
  return only_digits && (text.back() != '0' || text.size() - point == 2);
}

}  // namespace tracedb
