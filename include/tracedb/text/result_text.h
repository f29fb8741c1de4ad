// Values as text: numbers, hexadecimal, and text that may be shown to a terminal.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace tracedb {

// One character at the start of `text`, which must not be empty.
struct Utf8Character {
  char32_t code = 0;
  size_t bytes = 1;
  bool valid = false;  // if not: the bytes that cannot be read
};
Utf8Character ReadUtf8(std::string_view text);

size_t CountCharacters(std::string_view text);

// How many columns of a terminal the text takes: most characters one, East Asian ones and pictures
// two, marks that combine none.
size_t DisplayWidth(std::string_view text);

// The longest start of `text` that fits `width` columns with a closing mark, or all of it if it
// fits without.
std::string CutToWidth(std::string_view text, size_t width, std::string_view mark = "…");

// The longest end of it with a mark before: of a path that says most.
std::string CutFrontToWidth(std::string_view text, size_t width);

// The text in lines of at most `width`, broken at blanks where it has any; what goes beyond so many
// lines is cut.
inline constexpr size_t kWrappedLinesMax = 100;
std::vector<std::string> WrapText(std::string_view text, size_t width);

// Text that does nothing to a terminal: control characters as \n, \t or \x1b, characters that turn
// the writing direction or are not seen as \u202e, broken UTF-8 as U+FFFD.
std::string ShownText(std::string_view text);

// With everything that is not ASCII as \u00e9; of text that is shown already.
std::string AsciiText(std::string_view shown);

// The shortest text that reads back as the same number; "inf", "-inf" or "nan" if it is not finite.
void AppendReal(std::string& out, double real);

// A JSON string, in its quotes; what is no UTF-8 becomes U+FFFD.
void AppendJsonText(std::string& out, std::string_view text);

void AppendHex(std::string& out, std::string_view bytes);

}  // namespace tracedb
