#include "sources/read/text_words.h"

#include <algorithm>
#include <charconv>

namespace tracedb {

std::string_view TakeTextLine(std::string_view& text) {
  const size_t end = std::min(text.find_first_of("\r\n"), text.size());
  const std::string_view line = text.substr(0, end);
  const bool are_two = text.substr(end).starts_with("\r\n");
  text.remove_prefix(std::min(end + (are_two ? 2 : 1), text.size()));
  return line;
}

std::optional<int64_t> WholeNumber(std::string_view text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace tracedb
