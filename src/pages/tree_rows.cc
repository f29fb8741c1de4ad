#include "pages/tree_rows.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "pages/btree_cells.h"
#include "pages/record_pages.h"
#include "tracedb/pages/page_bytes.h"

namespace tracedb {

TreeRows::TreeRows(const File& file, uint32_t root, bool is_index)
    : file_(file),
      is_index_(is_index),
      local_bytes_max_(is_index ? IndexLocalBytesMax(file.sizes) : TableLocalBytesMax(file.sizes)),
      root_(root) {}

Error TreeRows::Damaged(const char* what) const {
  return Error{ErrorKind::kOutput, file_.path.string() + ": " + what, "check the disk"};
}

Status TreeRows::ReadPage(uint32_t number, std::span<uint8_t> page) {
  if (number < 2 || number > file_.pages || ++pages_read_ > file_.pages) {
    return Damaged("a page that is not there");
  }
  auto place = static_cast<off_t>(uint64_t{number - 1} * file_.sizes.page_bytes);
  while (!page.empty()) {
    const ssize_t got = pread(file_.descriptor, page.data(), page.size(), place);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return Damaged(got == 0 ? "it ends too early" : std::strerror(errno));
    place += got;
    page = page.subspan(static_cast<size_t>(got));
  }
  return Done{};
}

Status TreeRows::Descend(uint32_t page) {
  if (depth_ == static_cast<size_t>(kTreeDepthMax)) return Damaged("a tree that is too deep");
  if (depth_ == levels_.size()) levels_.emplace_back();
  Level& level = levels_[depth_++];
  level.page.resize(file_.sizes.page_bytes + Row::kSlackBytes);
  level.cell = 0;
  level.is_below_done = false;
  TRACEDB_TRY(ReadPage(page, std::span(level.page).first(file_.sizes.page_bytes)));
  const uint8_t kind = level.page[0];
  const bool fits = (IsLeafKind(kind) || IsInteriorKind(kind)) && IsIndexKind(kind) == is_index_;
  return fits ? Status(Done{}) : Damaged("a page of another kind");
}

Result<bool> TreeRows::Next(Row& row) {
  if (root_ != 0) {
    TRACEDB_TRY(Descend(root_));
    root_ = 0;
  }
  while (depth_ > 0) {
    Level& level = levels_[depth_ - 1];
    if (IsInteriorKind(level.page[0])) {
      TRACEDB_ASSIGN(found, NextOfInterior(level, row));
      if (found) return true;
      continue;
    }
    if (level.cell == GetU16(&level.page[kCellCountAt])) {
      --depth_;
      continue;
    }
    TRACEDB_TRY(ReadCell(CellAt(level.page, file_.sizes, level.cell++), row));
    return true;
  }
  return false;
}

// True: `row` is an entry of the page itself. Else the way went down to a child, or up again.
Result<bool> TreeRows::NextOfInterior(Level& level, Row& row) {
  const uint32_t cells = GetU16(&level.page[kCellCountAt]);
  if (level.cell > cells) {
    --depth_;
    return false;
  }
  if (level.cell == cells) {
    ++level.cell;
    TRACEDB_TRY(Descend(GetU32(&level.page[kRightmostChildAt])));
    return false;
  }
  const auto cell = CellAt(level.page, file_.sizes, level.cell);
  if (cell.size() <= kPageNumberBytes) return Damaged("a cell beyond its page");
  if (!level.is_below_done) {
    level.is_below_done = is_index_;
    if (!is_index_) ++level.cell;
    TRACEDB_TRY(Descend(GetU32(cell.data())));
    return false;
  }
  level.is_below_done = false;
  ++level.cell;
  TRACEDB_TRY(ReadCell(cell.subspan(kPageNumberBytes), row));
  return true;
}

Status TreeRows::ReadCell(std::span<const uint8_t> cell, Row& row) {
  const Varint payload = GetVarint(cell);
  if (payload.bytes == 0) return Damaged("a cell beyond its page");
  cell = cell.subspan(payload.bytes);
  if (!is_index_) {
    const Varint rowid = GetVarint(cell);
    if (rowid.bytes == 0) return Damaged("a cell beyond its page");
    row.rowid = static_cast<int64_t>(rowid.value);
    cell = cell.subspan(rowid.bytes);
  }
  const auto bytes = static_cast<size_t>(payload.value);
  if (bytes <= local_bytes_max_) {
    if (bytes > cell.size()) return Damaged("a cell beyond its page");
    row.record = cell.first(bytes);
    return Done{};
  }
  const size_t local = LocalBytes(bytes, local_bytes_max_, file_.sizes);
  const bool is_possible = bytes / file_.sizes.page_bytes <= file_.pages;
  if (!is_possible || local + kPageNumberBytes > cell.size()) {
    return Damaged("a cell beyond its page");
  }
  long_record_.assign(cell.begin(), cell.begin() + static_cast<ptrdiff_t>(local));
  TRACEDB_TRY(ReadOverflow(GetU32(&cell[local]), bytes));
  long_record_.resize(bytes + Row::kSlackBytes);
  row.record = std::span(long_record_).first(bytes);
  return Done{};
}

// Adds to long_record_ until it has `bytes`.
Status TreeRows::ReadOverflow(uint32_t page, size_t bytes) {
  std::vector<uint8_t> read(file_.sizes.page_bytes);
  while (long_record_.size() < bytes) {
    TRACEDB_TRY(ReadPage(page, read));
    const size_t room = file_.sizes.usable_bytes - kPageNumberBytes;
    const size_t here = std::min(room, bytes - long_record_.size());
    const auto from = read.begin() + kPageNumberBytes;
    long_record_.insert(long_record_.end(), from, from + static_cast<ptrdiff_t>(here));
    page = GetU32(read.data());
  }
  return Done{};
}

}  // namespace tracedb
