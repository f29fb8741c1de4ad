// The values of a column in a row group <-> the bytes of one data page, before compression.
//
//   levels of definition (1: there is a value), RLE or bit-packed, their length in front
//   values: PLAIN, or of integers DELTA_BINARY_PACKED
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "tracedb/parquet/parquet_columns.h"

namespace tracedb {

// As Parquet numbers them.
enum class PageEncoding : int { kPlain = 0, kRle = 3, kDeltaBinaryPacked = 5 };

std::string EncodePage(const ParquetValues& values, PageEncoding encoding);
// Nothing where the bytes are not those of so many rows.
std::optional<ParquetValues> DecodePage(std::string_view page, ParquetType type,
                                        PageEncoding encoding, size_t rows);

}  // namespace tracedb
