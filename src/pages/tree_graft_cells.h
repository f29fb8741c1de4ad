// The cells of a leaf that somebody else wrote: nothing in it is trusted, as in btree_cells.h.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "pages/btree_cells.h"
#include "pages/record_pages.h"

namespace tracedb {

struct LeafCell {
  std::span<const uint8_t> bytes;  // with the number of its overflow page, where it has one
  int64_t rowid = 0;               // of a table
  uint64_t overflow_bytes = 0;     // that are not in the leaf
};

// The n-th cell; none where it does not lie within the page.
inline std::optional<LeafCell> LeafCellAt(std::span<const uint8_t> page, PageSizes sizes,
                                          uint32_t n) {
  const auto from = CellAt(page, sizes, n);
  const bool is_index = IsIndexKind(page[0]);
  const Varint payload = GetVarint(from);
  if (payload.bytes == 0) return std::nullopt;
  LeafCell cell;
  size_t head = payload.bytes;
  if (!is_index) {
    const Varint rowid = GetVarint(from.subspan(head));
    if (rowid.bytes == 0) return std::nullopt;
    cell.rowid = static_cast<int64_t>(rowid.value);
    head += rowid.bytes;
  }
  const size_t local_max = is_index ? IndexLocalBytesMax(sizes) : TableLocalBytesMax(sizes);
  const size_t local = LocalBytes(payload.value, local_max, sizes);
  cell.overflow_bytes = payload.value - local;
  const size_t bytes = head + local + (cell.overflow_bytes > 0 ? kPageNumberBytes : 0);
  if (bytes > from.size()) return std::nullopt;
  // SQLite gives every cell the room of a free block.
  cell.bytes = from.first(std::min(std::max(bytes, BtreePage::kCellBytesMin), from.size()));
  return cell.bytes.size() < BtreePage::kCellBytesMin ? std::nullopt : std::optional(cell);
}

}  // namespace tracedb
