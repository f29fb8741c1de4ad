// Reading b-tree pages that somebody else wrote: nothing in them is trusted, and nothing outside
// them is read.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "tracedb/pages/btree_page.h"
#include "tracedb/pages/page_bytes.h"

namespace tracedb {

// Offsets in the header of a b-tree page. It is at the page's begin, but for the first page.
inline constexpr size_t kCellCountAt = 3;
inline constexpr size_t kRightmostChildAt = 8;
inline constexpr size_t kLeafHeaderBytes = 8;
inline constexpr size_t kInteriorHeaderBytes = 12;
inline constexpr size_t kPointerBytes = 2;

inline constexpr int kTreeDepthMax = 20;  // as SQLite has it

inline bool IsInteriorKind(uint8_t kind) {
  return kind == static_cast<uint8_t>(BtreePage::Kind::kIndexInterior) ||
         kind == static_cast<uint8_t>(BtreePage::Kind::kTableInterior);
}

inline bool IsLeafKind(uint8_t kind) {
  return kind == static_cast<uint8_t>(BtreePage::Kind::kIndexLeaf) ||
         kind == static_cast<uint8_t>(BtreePage::Kind::kTableLeaf);
}

inline bool IsIndexKind(uint8_t kind) {
  return kind == static_cast<uint8_t>(BtreePage::Kind::kIndexLeaf) ||
         kind == static_cast<uint8_t>(BtreePage::Kind::kIndexInterior);
}

struct Varint {
  uint64_t value = 0;
  size_t bytes = 0;  // 0: it goes beyond the page
};

inline Varint GetVarint(std::span<const uint8_t> bytes) {
  if (!bytes.empty() && bytes[0] < 0x80) return {bytes[0], 1};  // most
  Varint read;
  while (read.bytes < std::min(bytes.size(), kVarintBytesMax)) {
    const uint8_t byte = bytes[read.bytes++];
    if (read.bytes == kVarintBytesMax) return {read.value << 8 | byte, read.bytes};
    read.value = read.value << 7 | (byte & 0x7f);
    if (byte < 0x80) return read;
  }
  return {};
}

// The page's bytes from its n-th cell on; empty where its pointer leads nowhere. `header_at` is
// where the page's own header begins.
inline std::span<const uint8_t> CellAt(std::span<const uint8_t> page, PageSizes sizes, uint32_t n,
                                       size_t header_at = 0) {
  const size_t header =
      header_at + (IsInteriorKind(page[header_at]) ? kInteriorHeaderBytes : kLeafHeaderBytes);
  const size_t pointer = header + kPointerBytes * n;
  if (pointer + kPointerBytes > sizes.usable_bytes) return {};
  const uint32_t at = GetU16(&page[pointer]);
  if (at < header || at >= sizes.usable_bytes) return {};
  return page.subspan(at, sizes.usable_bytes - at);
}

}  // namespace tracedb
