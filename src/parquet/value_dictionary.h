// The texts of a column in a row group as numbers into a dictionary of its own:
//
//   "gemm" "copy" "gemm" NULL "gemm"  ->  "gemm" "copy", and 0 1 0 0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tracedb/parquet/parquet_columns.h"

namespace tracedb {

struct ValueDictionary {
  std::string page;  // its texts as a page of values: PLAIN
  size_t texts = 0;
  std::vector<uint32_t> numbers;  // one a value that is there
};

// Nothing where numbers would be no shorter: most texts differ, or there is none.
std::optional<ValueDictionary> MakeDictionary(const ParquetValues& values);

// The numbers after a page's levels: how many bits each has, then one run of them.
std::string EncodeNumbers(const ValueDictionary& dictionary);
// Nothing where these are not so many numbers below `texts`.
std::optional<std::vector<uint32_t>> DecodeNumbers(std::string_view bytes, size_t count,
                                                   size_t texts);

// A dictionary's page -> its texts; nothing where there are not so many in it.
std::optional<std::vector<std::string_view>> DecodeDictionary(std::string_view page, size_t texts);

}  // namespace tracedb
