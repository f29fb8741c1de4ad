// Words and whole numbers in lines of text, as every reader of them needs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace tracedb {

// Without blanks, tabs and carriage returns at both ends.
inline std::string_view TrimBlanks(std::string_view text) {
  const auto is_blank = [](char c) { return c == ' ' || c == '\t' || c == '\r'; };
  size_t begin = 0;
  size_t end = text.size();
  while (begin < end && is_blank(text[begin])) ++begin;
  while (end > begin && is_blank(text[end - 1])) --end;
  return text.substr(begin, end - begin);
}

// The next line, or piece of one between carriage returns, taken off the text.
std::string_view TakeTextLine(std::string_view& text);

// A decimal number that is all of `text` and fits 64 bits.
std::optional<int64_t> WholeNumber(std::string_view text);

}  // namespace tracedb
