// Reads and writes of whole pages, and what is said where they fail.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>

#include "tracedb/base/result.h"
#include "tracedb/pages/btree_page.h"

namespace tracedb {

// Where a page begins in its file.
inline uint64_t PlaceOf(uint32_t number, PageSizes sizes) {
  return uint64_t{number - 1} * sizes.page_bytes;
}

// All of `bytes`; `name` is the file's, for what is said where that fails.
Status ReadAt(int file, uint64_t offset, std::span<uint8_t> bytes,
              const std::filesystem::path& name);
Status WriteAt(int file, uint64_t offset, std::span<const uint8_t> bytes,
               const std::filesystem::path& name);

// What the system says of errno.
Error PageError(const std::filesystem::path& name, const char* doing);
Error Interrupted();

}  // namespace tracedb
