#include "text/formula_guard.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <system_error>

#include "tracedb/text/result_text.h"

namespace tracedb {
namespace {

constexpr std::string_view kCellEnds = ";\t\r\n";

struct Range {
  char32_t first, last;
};

// What a spreadsheet drops or does not show in front of a cell's text: controls, Unicode's spaces,
// and characters without width; and the quotes that it takes off.
constexpr Range kUnseen[] = {
    {0x00, 0x20},      {0x22, 0x22},     {0x7f, 0xa0},     {0xad, 0xad},     {0x34f, 0x34f},
    {0x61c, 0x61c},    {0x115f, 0x1160}, {0x1680, 0x1680}, {0x17b4, 0x17b5}, {0x180b, 0x180f},
    {0x2000, 0x200f},  {0x2028, 0x202f}, {0x205f, 0x206f}, {0x2800, 0x2800}, {0x3000, 0x3000},
    {0x3164, 0x3164},  {0xfe00, 0xfe0f}, {0xfeff, 0xfeff}, {0xffa0, 0xffa0}, {0xfff9, 0xfffb},
    {0xe0000, 0xe007f}};

// = + - @, a minus sign of its own, and their small and full-width forms.
constexpr char32_t kStarts[] = {U'=',   U'+',   U'-',   U'@',   0x2212, 0xfe62, 0xfe63,
                                0xfe66, 0xfe6b, 0xff0b, 0xff0d, 0xff1d, 0xff20};

bool IsUnseen(const Utf8Character& character) {
  if (!character.valid) return true;
  return std::any_of(std::begin(kUnseen), std::end(kUnseen), [&](const Range& range) {
    return range.first <= character.code && character.code <= range.last;
  });
}

bool IsNumber(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  double number = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, code] = std::from_chars(text.data(), end, number);
  const bool has_digit = text.find_first_of("0123456789") != std::string_view::npos;
  return code != std::errc::invalid_argument && stop == end && has_digit;
}

}  // namespace

bool IsFormula(std::string_view text) {
  if (text.starts_with('\t') || text.starts_with('\r')) return true;
  std::string_view seen = text;
  while (!seen.empty()) {
    const Utf8Character character = ReadUtf8(seen);
    if (!IsUnseen(character)) break;
    seen.remove_prefix(std::max<size_t>(character.bytes, 1));
  }
  if (seen.empty()) return false;
  const char32_t start = ReadUtf8(seen).code;
  if (std::find(std::begin(kStarts), std::end(kStarts), start) == std::end(kStarts)) return false;
  const bool may_be_number = start == U'+' || start == U'-';
  return !(may_be_number && IsNumber(seen));
}

void AppendGuarded(std::string& out, std::string_view text) {
  bool is_first = true;
  for (;;) {
    const size_t end = std::min(text.find_first_of(kCellEnds), text.size());
    // The text's own start is looked at whole: a cell shows it as one, with its line breaks.
    if (IsFormula(is_first ? text : text.substr(0, end))) out += '\'';
    is_first = false;
    if (end == text.size()) break;
    out += text.substr(0, end + 1);
    text.remove_prefix(end + 1);
  }
  out += text;
}

}  // namespace tracedb
