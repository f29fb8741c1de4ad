// Small things about JSON text that the parsing library leaves to its caller: blanks, escapes,
// and making valid JSON of text that is nearly so.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace tracedb {

inline bool IsJsonBlank(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }

inline std::string_view TrimJsonBlanks(std::string_view text) {
  while (!text.empty() && IsJsonBlank(text.back())) text.remove_suffix(1);
  while (!text.empty() && IsJsonBlank(text.front())) text.remove_prefix(1);
  return text;
}

// The inside of a string token; any other token as it is.
inline std::string_view Unquoted(std::string_view token) {
  if (token.size() >= 2 && token.front() == '"' && token.back() == '"') {
    token.remove_prefix(1);
    token.remove_suffix(1);
  }
  return token;
}

// The text that the inside of a JSON string stands for, always valid UTF-8: an unknown escape
// keeps its backslash, a lone surrogate or a bad byte becomes U+FFFD.
std::string UnescapedJson(std::string_view inside);

// Appends `text` as a JSON string with its quotes.
void AppendJsonString(std::string& out, std::string_view text);
std::string JsonString(std::string_view text);  // the same by itself

// Blanks outside strings removed.
std::string MinifiedJson(std::string_view text);

struct JsonRepair {
  bool text = false;        // escapes, control characters or UTF-8
  bool non_finite = false;  // NaN or an infinity became null
};

// Makes valid JSON, where that is possible without guessing, of one event or args object:
// control characters and bad bytes in strings, unknown escapes, NaN and infinities, trailing
// commas.
JsonRepair RepairJson(std::string_view text, std::string& repaired);

// The same for a text with column marks, which stay.
JsonRepair RepairArgs(std::string_view text, std::string& repaired);

}  // namespace tracedb
