#include "tracedb/pages/btree_page.h"

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
    : kind_(kind), sizes_(sizes), bytes_(std::make_unique<uint8_t[]>(sizes.page_bytes)) {
  Clear();
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
