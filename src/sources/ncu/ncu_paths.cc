#include "sources/ncu/ncu_paths.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <system_error>

#include "tracedb/ingest/read/rank_in_name.h"

namespace tracedb {
std::string NcuNameOrder(std::string_view path) {
  constexpr size_t kDigits = 20;
  std::string order;
  for (size_t i = 0; i < path.size();) {
    size_t end = i;
    while (end < path.size() && path[end] >= '0' && path[end] <= '9') ++end;
    if (end == i) {
      order += path[i++];
      continue;
    }
    while (i + 1 < end && path[i] == '0') ++i;
    order.append(kDigits - std::min(kDigits, end - i), '0').append(path.substr(i, end - i));
    i = end;
  }
  return order;
}

std::optional<int64_t> NcuRankInPath(std::string_view path) {
  const size_t slash = path.rfind('/');
  const std::string_view name = slash == std::string_view::npos ? path : path.substr(slash + 1);
  if (const auto rank = RankInName(name)) return rank;
  if (slash == std::string_view::npos) return std::nullopt;
  const std::string_view folders = path.substr(0, slash);
  const size_t above = folders.rfind('/');
  return RankInName(above == std::string_view::npos ? folders : folders.substr(above + 1));
}

std::optional<int64_t> NcuNumberInPath(std::string_view path) {
  const std::string_view name = path.substr(path.rfind('/') + 1);
  const std::string_view stem = name.substr(0, name.find('.', 1));
  std::optional<int64_t> last;
  std::string word;  // the letters in front
  for (size_t i = 0; i < stem.size();) {
    const auto c = static_cast<unsigned char>(stem[i]);
    if (std::isdigit(c) == 0) {
      if (std::isalpha(c) != 0) word += static_cast<char>(std::tolower(c));
      ++i;
      continue;
    }
    int64_t number = 0;
    const char* const end = stem.data() + stem.size();
    const auto [behind, error] = std::from_chars(stem.data() + i, end, number);
    const bool is_rank = word.ends_with("rank") || word.ends_with("gpu");
    if (error == std::errc() && !is_rank) last = number;
    word.clear();
    i = static_cast<size_t>(behind - stem.data());
  }
  return last;
}

}  // namespace tracedb
