#include "tracedb/text/quoted_word.h"

#include "tracedb/text/result_text.h"

namespace tracedb {

std::string QuotedWord(std::string_view word) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./,:@%";
  if (!word.empty() && word.find_first_not_of(kPlain) == word.npos) return std::string(word);
  std::string quoted = "'";
  for (const char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return ShownText(quoted + "'");
}

}  // namespace tracedb
