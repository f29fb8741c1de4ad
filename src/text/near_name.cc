#include "tracedb/text/near_name.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "tracedb/text/result_text.h"

namespace tracedb {
namespace {

// Longer ones are nobody's typing mistake, and the work grows with the square of the length.
constexpr size_t kTypedBytesMax = 100;
constexpr size_t kSuggestionsMax = 3;

// How many letters of it may be wrong.
size_t FarthestOf(std::string_view typed) {
  return typed.size() <= 3 ? 1 : std::max<size_t>(2, typed.size() / 3);
}

// "queries" for "query": all of the name but its last letter, and another ending.
bool EndsOtherwise(std::string_view typed, std::string_view name) {
  constexpr size_t kStemMin = 4;
  if (name.size() <= kStemMin || typed.size() > name.size() + 2) return false;
  return typed.starts_with(name.substr(0, name.size() - 1));
}

char Lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

}  // namespace

size_t EditDistance(std::string_view first, std::string_view second) {
  std::vector<size_t> before(second.size() + 1);  // the row above the one above
  std::vector<size_t> above(second.size() + 1);
  std::vector<size_t> row(second.size() + 1);
  for (size_t j = 0; j < row.size(); ++j) row[j] = j;
  const auto same = [&](size_t i, size_t j) { return Lower(first[i]) == Lower(second[j]); };
  for (size_t i = 1; i <= first.size(); ++i) {
    std::swap(before, above);
    std::swap(above, row);
    row[0] = i;
    for (size_t j = 1; j < row.size(); ++j) {
      row[j] =
          std::min({above[j] + 1, row[j - 1] + 1, above[j - 1] + (same(i - 1, j - 1) ? 0 : 1)});
      const bool swapped = i > 1 && j > 1 && same(i - 1, j - 2) && same(i - 2, j - 1);
      if (swapped) row[j] = std::min(row[j], before[j - 2] + 1);
    }
  }
  return row.back();
}

std::vector<std::string> NearNames(std::string_view typed, std::span<const std::string> names) {
  std::vector<std::tuple<size_t, size_t, std::string>> found;  // of two as near the shorter one
  if (typed.empty() || typed.size() > kTypedBytesMax) return {};
  for (const std::string& name : names) {
    size_t distance = EditDistance(typed, name);
    // A part of the name ("stalls" for "nccl_stalls") is as good as one wrong letter.
    if (typed.size() >= 3 && name.find(typed) != std::string::npos) distance = 1;
    if (EndsOtherwise(typed, name)) distance = std::min<size_t>(distance, 2);
    if (distance <= FarthestOf(typed) && distance < typed.size()) {
      found.emplace_back(distance, name.size(), name);
    }
  }
  std::sort(found.begin(), found.end());
  std::vector<std::string> nearest;
  for (size_t i = 0; i < std::min(found.size(), kSuggestionsMax); ++i) {
    nearest.push_back(std::get<std::string>(found[i]));
  }
  return nearest;
}

std::string DidYouMean(std::span<const std::string> near) {
  return near.empty() ? "" : "did you mean " + ShownText(JoinNames(near, " or ")) + "?";
}

std::string JoinNames(std::span<const std::string> names, std::string_view between) {
  std::string joined;
  for (const std::string& name : names) {
    if (!joined.empty()) joined += between;
    joined += name;
  }
  return joined;
}

}  // namespace tracedb
