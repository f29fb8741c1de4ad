// What the appenders of tables and indexes share: how much of a record stays in its cell, and
// the pages that take the rest.
//
// Knows no cells and no trees. Of what is here, a row that fits into its page needs nothing.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>

#include "tracedb/base/result.h"
#include "tracedb/pages/btree_page.h"
#include "tracedb/pages/page_bytes.h"
#include "tracedb/pages/page_file.h"

namespace tracedb {

inline constexpr size_t kPageNumberBytes = 4;

// A record up to this length stays whole in its cell. The limits are from SQLite's file format
// ("Cell Payload Overflow Pages").
inline size_t TableLocalBytesMax(PageSizes sizes) { return sizes.usable_bytes - 35; }
inline size_t IndexLocalBytesMax(PageSizes sizes) {
  return (sizes.usable_bytes - 12) * 64 / 255 - 23;
}

// How many of a record's bytes stay in its cell; the others go to overflow pages.
inline size_t LocalBytes(size_t record_bytes, size_t local_bytes_max, PageSizes sizes) {
  if (record_bytes <= local_bytes_max) return record_bytes;
  // As many as leave the last overflow page full, if that many may stay.
  const size_t local_bytes_min = (sizes.usable_bytes - 12) * 32 / 255 - 23;
  const size_t overflow_bytes = sizes.usable_bytes - kPageNumberBytes;
  const size_t fitting = local_bytes_min + (record_bytes - local_bytes_min) % overflow_bytes;
  return fitting <= local_bytes_max ? fitting : local_bytes_min;
}

inline Status CheckRecordBytes(const PageFile& file, size_t record_bytes) {
  constexpr size_t kRecordBytesMax = 1'000'000'000;
  if (record_bytes <= kRecordBytesMax) return Done{};
  return Error{ErrorKind::kInput,
               file.path().string() + ": a row of " + std::to_string(record_bytes) +
                   " bytes is longer than the " + std::to_string(kRecordBytesMax) +
                   " that SQLite can hold",
               ""};
}

// Writes the chain of overflow pages and returns its first page.
inline Result<uint32_t> WriteOverflow(PageFile& file, std::span<const uint8_t> bytes) {
  const size_t page_room = file.sizes().usable_bytes - kPageNumberBytes;
  const uint32_t first_page = file.NextPageNumber();
  while (!bytes.empty()) {
    TRACEDB_ASSIGN(page, file.AddPage());
    const size_t here = std::min(bytes.size(), page_room);
    const bool is_last = here == bytes.size();
    // The chain's pages follow each other in the file: nobody else adds one meanwhile.
    PutU32(page.bytes.data(), is_last ? 0 : file.NextPageNumber());
    std::memcpy(page.bytes.data() + kPageNumberBytes, bytes.data(), here);
    std::ranges::fill(page.bytes.subspan(kPageNumberBytes + here), uint8_t{0});
    bytes = bytes.subspan(here);
  }
  return first_page;
}

// Adds one whole page and returns its number.
inline Result<uint32_t> WriteNewPage(PageFile& file, std::span<const uint8_t> bytes) {
  TRACEDB_ASSIGN(page, file.AddPage());
  std::memcpy(page.bytes.data(), bytes.data(), bytes.size());
  return page.number;
}

}  // namespace tracedb
