// "Did you mean": the names that a mistyped one was probably meant to be.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tracedb {

// At most three, nearest first.
std::vector<std::string> NearNames(std::string_view typed, std::span<const std::string> names);

// "did you mean a or b?" of such names; empty where there are none.
std::string DidYouMean(std::span<const std::string> near);

// Letters to insert, delete or change, and neighbours to swap, to make one of the other; upper and
// lower case are the same.
size_t EditDistance(std::string_view first, std::string_view second);

// "a, b, c"
std::string JoinNames(std::span<const std::string> names, std::string_view between = ", ");

}  // namespace tracedb
