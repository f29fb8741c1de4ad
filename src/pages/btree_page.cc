#include "tracedb/pages/btree_page.h"

#include <algorithm>
#include <cstring>

namespace tracedb {
namespace {

// Offsets in the header of a b-tree page. Free blocks (at 1) and fragmented bytes (at 7) stay 0:
// nothing is ever deleted here.
constexpr size_t kFreeBlockAt = 1;
constexpr size_t kCellCountAt = 3;
constexpr size_t kContentStartAt = 5;
constexpr size_t kFragmentedBytesAt = 7;
constexpr size_t kRightmostChildAt = 8;
constexpr uint32_t kLeafHeaderBytes = 8;
constexpr uint32_t kInteriorHeaderBytes = 12;

}  // namespace

BtreePage::BtreePage(Kind kind, PageSizes sizes)
    : kind_(kind),
      sizes_(sizes),
      bytes_(std::make_unique_for_overwrite<uint8_t[]>(sizes.page_bytes)) {
  // All else is written in Finish(), and of most tables of a small trace nothing is.
  std::fill(bytes_.get() + sizes.usable_bytes, bytes_.get() + sizes.page_bytes, uint8_t{0});
  Clear();
}

void BtreePage::AddRun(std::span<const std::span<const uint8_t>> cells) {
  for (const std::span<const uint8_t> cell : cells) {
    assert(cell.size() >= kCellBytesMin && Fits(cell.size()));
    content_start_ -= static_cast<uint32_t>(cell.size());
    PutU16(bytes_.get() + pointers_end_, content_start_);
    pointers_end_ += kPointerBytes;
  }
  cell_count_ += static_cast<uint32_t>(cells.size());
  const uint8_t* const from = cells.back().data();
  const uint8_t* const end = cells.front().data() + cells.front().size();
  std::memcpy(bytes_.get() + content_start_, from, static_cast<size_t>(end - from));
}

std::span<const uint8_t> BtreePage::NewestCell() const {
  assert(cell_count_ > 0);
  // It ends where the cell before it begins: below 65536, which its pointer could not say.
  const uint8_t* const pointer_before = bytes_.get() + pointers_end_ - 2 * kPointerBytes;
  const uint32_t end = cell_count_ > 1 ? GetU16(pointer_before) : sizes_.usable_bytes;
  return {bytes_.get() + content_start_, bytes_.get() + end};
}

void BtreePage::RemoveNewestCell() {
  content_start_ += static_cast<uint32_t>(NewestCell().size());
  pointers_end_ -= kPointerBytes;
  --cell_count_;
}

void BtreePage::SetRightmostChild(uint32_t page_number) {
  assert(IsInterior());
  PutU32(bytes_.get() + kRightmostChildAt, page_number);
}

std::span<const uint8_t> BtreePage::Finish() {
  uint8_t* page = bytes_.get();
  page[0] = static_cast<uint8_t>(kind_);
  PutU16(page + kFreeBlockAt, 0);
  PutU16(page + kCellCountAt, cell_count_);
  PutU16(page + kContentStartAt, content_start_);  // 65536 is written as 0, as the format wants
  page[kFragmentedBytesAt] = 0;
  // The gap may hold bytes of the page before: they have no place in the file.
  std::memset(page + pointers_end_, 0, content_start_ - pointers_end_);
  return {page, sizes_.page_bytes};
}

void BtreePage::Clear() {
  cell_count_ = 0;
  pointers_end_ = IsInterior() ? kInteriorHeaderBytes : kLeafHeaderBytes;
  content_start_ = sizes_.usable_bytes;
}

}  // namespace tracedb
