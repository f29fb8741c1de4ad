#include "query/doc/doc_words.h"

#include <algorithm>

namespace tracedb {

std::string_view Trim(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r";
  const size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

std::string_view TakeWord(std::string_view& text) {
  const size_t end = std::min(text.find_first_of(" \t"), text.size());
  const std::string_view word = text.substr(0, end);
  text = Trim(text.substr(end));
  return word;
}

bool IsName(std::string_view name) {
  const auto letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  };
  return !name.empty() && letter(name[0]) && std::all_of(name.begin(), name.end(), [&](char c) {
    return letter(c) || (c >= '0' && c <= '9');
  });
}

std::string_view KeyOf(std::string_view line) {
  const size_t colon = line.find(':');
  if (colon == std::string_view::npos || !IsName(line.substr(0, colon))) return {};
  return line.substr(0, colon);
}

std::optional<std::string_view> CommentText(std::string_view line) {
  if (!line.starts_with("--")) return std::nullopt;
  line.remove_prefix(2);
  if (line.starts_with(' ')) line.remove_prefix(1);
  const size_t last = line.find_last_not_of(" \t\r");
  return line.substr(0, last == std::string_view::npos ? 0 : last + 1);
}

std::vector<std::string> WordsOf(std::string_view text) {
  std::string blanks(text);
  std::replace(blanks.begin(), blanks.end(), ',', ' ');
  std::string_view rest = Trim(blanks);
  std::vector<std::string> words;
  while (!rest.empty()) words.emplace_back(TakeWord(rest));
  return words;
}

}  // namespace tracedb
