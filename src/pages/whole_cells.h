// Cells that are whole in their page, of pages that somebody else wrote.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "pages/btree_cells.h"
#include "pages/record_pages.h"
#include "tracedb/base/result.h"

namespace tracedb {

// A leaf's cell, which `from` begins with; nothing where some of it is elsewhere.
inline std::span<const uint8_t> WholeCell(std::span<const uint8_t> from, bool is_index,
                                          PageSizes sizes) {
  const Varint payload = GetVarint(from);
  const size_t local_max = is_index ? IndexLocalBytesMax(sizes) : TableLocalBytesMax(sizes);
  if (payload.bytes == 0 || payload.value > local_max) return {};
  size_t head = payload.bytes;
  if (!is_index) head += GetVarint(from.subspan(head)).bytes;
  const size_t bytes = head + static_cast<size_t>(payload.value);
  return bytes <= from.size() ? from.first(bytes) : std::span<const uint8_t>();
}

// Of a table leaf's cell.
inline std::optional<int64_t> RowidOf(std::span<const uint8_t> cell) {
  const Varint payload = GetVarint(cell);
  if (payload.bytes == 0) return std::nullopt;
  const Varint rowid = GetVarint(cell.subspan(payload.bytes));
  if (rowid.bytes == 0) return std::nullopt;
  return static_cast<int64_t>(rowid.value);
}

// What divides a table's page whose last row has this rowid from the next.
inline std::string RowidDivider(int64_t rowid) {
  uint8_t bytes[kVarintBytesMax];
  const uint8_t* const end = PutVarint(bytes, static_cast<uint64_t>(rowid));
  return {reinterpret_cast<const char*>(bytes), static_cast<size_t>(end - bytes)};
}

inline std::string AsText(std::span<const uint8_t> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

inline Error Unfit(const char* what) {
  return Error{ErrorKind::kUnfit, std::string("pages cannot be added: ") + what, ""};
}

}  // namespace tracedb
