// One page of a SQLite b-tree while it is being filled, in memory.
//
// Cell pointers grow from the header up, cells from the page's end down. It knows where a cell
// goes, never what is in it, and nothing of files or page numbers.
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "tracedb/pages/page_bytes.h"

namespace tracedb {

// The sizes that hold for every page of one database file.
struct PageSizes {
  uint32_t page_bytes = 0;    // 512 to 65536, a power of two
  uint32_t usable_bytes = 0;  // page_bytes less what the file reserves at each page's end
};

class BtreePage {
 public:
  // The first byte of such a page.
  enum class Kind : uint8_t {
    kIndexInterior = 0x02,
    kTableInterior = 0x05,
    kIndexLeaf = 0x0a,
    kTableLeaf = 0x0d,
  };

  BtreePage(Kind kind, PageSizes sizes);

  uint32_t cell_count() const { return cell_count_; }

  bool Fits(size_t cell_bytes) const {
    return pointers_end_ + kPointerBytes + cell_bytes <= content_start_;
  }

  // Takes room for the next cell, which must fit, and returns where the caller is to write its
  // bytes. SQLite wants at least kCellBytesMin of them.
  uint8_t* AddCell(size_t cell_bytes) {
    assert(cell_bytes >= kCellBytesMin && Fits(cell_bytes));
    content_start_ -= static_cast<uint32_t>(cell_bytes);
    PutU16(bytes_.get() + pointers_end_, content_start_);
    pointers_end_ += kPointerBytes;
    ++cell_count_;
    return bytes_.get() + content_start_;
  }

  // Adds cells, of which there is one, and which must fit. They lie in memory as in a page: each
  // ends where the one before it begins.
  void AddRun(std::span<const std::span<const uint8_t>> cells);

  // The cell that was added last; its bytes stay where they are until the next AddCell or Finish.
  std::span<const uint8_t> NewestCell() const;
  void RemoveNewestCell();

  // The page that holds what is greater than every cell's key; interior pages only.
  void SetRightmostChild(uint32_t page_number);

  // The whole page, ready to be written; valid until the next AddCell or Clear.
  std::span<const uint8_t> Finish();

  // No cells; for the next page of the same kind.
  void Clear();

  static constexpr size_t kCellBytesMin = 4;

 private:
  static constexpr uint32_t kPointerBytes = 2;

  bool IsInterior() const { return kind_ == Kind::kIndexInterior || kind_ == Kind::kTableInterior; }

  Kind kind_;
  PageSizes sizes_;
  uint32_t cell_count_ = 0;
  uint32_t pointers_end_ = 0;  // offsets in the page
  uint32_t content_start_ = 0;
  std::unique_ptr<uint8_t[]> bytes_;
};

}  // namespace tracedb
