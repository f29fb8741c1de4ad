#include "tracedb/ingest/read/rank_in_name.h"

#include <cctype>
#include <charconv>
#include <string>

namespace tracedb {

std::optional<int64_t> RankInName(std::string_view name) {
  constexpr std::string_view kWord = "rank";
  std::string lower(name);
  for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  for (size_t at = lower.find(kWord); at != std::string::npos; at = lower.find(kWord, at + 1)) {
    if (at > 0 && std::isalpha(static_cast<unsigned char>(lower[at - 1])) != 0) continue;
    size_t digits = at + kWord.size();
    while (digits < lower.size() &&
           std::string_view("-_[( .=").find(lower[digits]) != std::string_view::npos) {
      ++digits;
    }
    int64_t rank;
    const auto [end, error] =
        std::from_chars(lower.data() + digits, lower.data() + lower.size(), rank);
    if (error == std::errc() && rank >= 0) return rank;
  }
  return std::nullopt;
}

}  // namespace tracedb
