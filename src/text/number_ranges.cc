#include "tracedb/text/number_ranges.h"

#include <fmt/format.h>

#include <charconv>
#include <system_error>

namespace tracedb {
namespace {

std::optional<int64_t> WholeNumber(std::string_view text) {
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool all = error == std::errc() && end == text.data() + text.size();
  return all && number >= 0 ? std::optional(number) : std::nullopt;
}

}  // namespace

std::optional<NumberRange> ParseRange(std::string_view text) {
  const size_t dots = text.find("..");
  const auto first = WholeNumber(text.substr(0, dots));
  const auto last = dots == std::string_view::npos ? first : WholeNumber(text.substr(dots + 2));
  if (!first.has_value() || !last.has_value() || *last < *first) return std::nullopt;
  return std::pair(*first, *last);
}

std::optional<std::vector<NumberRange>> ParseRanges(std::string_view text) {
  std::vector<NumberRange> ranges;
  while (true) {
    const size_t comma = text.find(',');
    const auto range = ParseRange(text.substr(0, comma));
    if (!range.has_value()) return std::nullopt;
    ranges.push_back(*range);
    if (comma == std::string_view::npos) return ranges;
    text.remove_prefix(comma + 1);
  }
}

std::optional<std::string> RangesAsJson(const std::vector<NumberRange>& ranges) {
  int64_t left = kListedNumbersMax;
  std::string json;
  for (const auto& [first, last] : ranges) {
    if (last - first >= left) return std::nullopt;
    left -= last - first + 1;
    for (int64_t number = first; number <= last; ++number) {
      json += fmt::format("{}{}", json.empty() ? "" : ",", number);
    }
  }
  return "[" + json + "]";
}

}  // namespace tracedb
