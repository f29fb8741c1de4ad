// Pages of Parquet files, packed and unpacked with zstd; each has a checksum.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace tracedb {

std::string CompressPage(std::string_view page, int level);
// Nothing where it is no frame of zstd, is damaged, or does not unpack to `bytes` bytes exactly.
std::optional<std::string> DecompressPage(std::string_view packed, size_t bytes);

}  // namespace tracedb
