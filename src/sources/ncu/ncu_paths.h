// What the names of files and folders tell of their order and of ranks.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tracedb {

// A path in an order where 10 comes after 9: every number in it has 20 digits.
std::string NcuNameOrder(std::string_view path);
// The rank that a file's name tells: rank3.csv, ncu_rank-3.csv; of a folder's, if the name has
// none.
std::optional<int64_t> NcuRankInPath(std::string_view path);
// The last number in a file's name that is no rank: of ncu_rank3_batch12.csv 12.
std::optional<int64_t> NcuNumberInPath(std::string_view path);

}  // namespace tracedb
