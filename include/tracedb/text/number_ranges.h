// Lists of whole numbers as people write them: "3", "0..7", "0,3..5".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tracedb {

using NumberRange = std::pair<int64_t, int64_t>;  // both are in it

// "3" as (3, 3), "3..5" as (3, 5). Nothing when it is neither, is below zero or runs backwards.
std::optional<NumberRange> ParseRange(std::string_view text);

// Ranges with commas between, in the order in which they are written. Nothing when one is none.
std::optional<std::vector<NumberRange>> ParseRanges(std::string_view text);

// How many numbers a list that is written out may have.
inline constexpr int64_t kListedNumbersMax = 100'000;
// "[0,3,4,5]", for SQL's json_each. Nothing when there are more than kListedNumbersMax.
std::optional<std::string> RangesAsJson(const std::vector<NumberRange>& ranges);

}  // namespace tracedb
