// The values of a column in a row group <-> the bytes of one data page, before compression.
//
//   levels of definition (1: there is a value), RLE or bit-packed, their length in front
//   values: PLAIN, of integers DELTA_BINARY_PACKED, of texts numbers into a dictionary
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "parquet/value_dictionary.h"
#include "tracedb/parquet/parquet_columns.h"

namespace tracedb {

// As Parquet numbers them.
enum class PageEncoding : int {
  kPlain = 0,
  kRle = 3,
  kDeltaBinaryPacked = 5,
  kRleDictionary = 8,
};

std::string EncodePage(const ParquetValues& values, PageEncoding encoding);
// Of texts whose dictionary stands in a page of its own.
std::string EncodePage(const ParquetValues& values, const ValueDictionary& dictionary);
// Nothing where the bytes are not those of so many rows. `dictionary`: of kRleDictionary.
std::optional<ParquetValues> DecodePage(std::string_view page, ParquetType type,
                                        PageEncoding encoding, size_t rows,
                                        std::span<const std::string_view> dictionary = {});

}  // namespace tracedb
