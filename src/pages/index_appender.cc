#include "tracedb/pages/index_appender.h"

#include <array>
#include <string>

#include "pages/record_pages.h"

namespace tracedb {

IndexAppender::IndexAppender(PageFile& file, uint32_t root_page)
    : file_(&file),
      root_page_(root_page),
      local_bytes_max_(IndexLocalBytesMax(file.sizes())),
      leaf_(BtreePage::Kind::kIndexLeaf, file.sizes()) {}

Result<IndexAppender> IndexAppender::Create(PageFile& file, uint32_t root_page) {
  const std::string where = file.path().string() + ": page " + std::to_string(root_page);
  if (root_page < 2 || root_page > file.page_count()) {
    return Error{ErrorKind::kOutput, where + " is no index's root", ""};
  }
  constexpr size_t kCellCountAt = 3;
  std::array<uint8_t, kCellCountAt + 2> page;
  TRACEDB_TRY(file.ReadOldStart(root_page, page));
  if (page[0] != static_cast<uint8_t>(BtreePage::Kind::kIndexLeaf) ||
      GetU16(&page[kCellCountAt]) != 0) {
    return Error{ErrorKind::kOutput, where + " is not the root of an empty index",
                 "entries can be added this way only to an index that has none"};
  }
  return IndexAppender(file, root_page);
}

Status IndexAppender::AppendSlowly(std::span<const uint8_t> record) {
  TRACEDB_TRY(CheckRecordBytes(*file_, record.size()));
  const size_t local_bytes = LocalBytes(record.size(), local_bytes_max_, file_->sizes());
  const bool spills = local_bytes < record.size();
  const size_t cell_bytes =
      VarintBytes(record.size()) + local_bytes + (spills ? kPageNumberBytes : 0);
  if (!leaf_.Fits(cell_bytes)) TRACEDB_TRY(FinishLeaf());
  uint32_t overflow_page = 0;
  if (spills) {
    TRACEDB_ASSIGN(first_page, WriteOverflow(*file_, record.subspan(local_bytes)));
    overflow_page = first_page;
  }
  uint8_t* const cell = PutVarint(leaf_.AddCell(cell_bytes), record.size());
  std::memcpy(cell, record.data(), local_bytes);
  if (spills) PutU32(cell + local_bytes, overflow_page);
  ++entry_count_;
  return Done{};
}

Status IndexAppender::FinishLeaf() {
  const auto newest = leaf_.NewestCell();
  divider_.assign(newest.begin(), newest.end());
  leaf_.RemoveNewestCell();
  assert(leaf_.cell_count() > 0);
  TRACEDB_ASSIGN(page_number, WriteNewPage(*file_, leaf_.Finish()));
  leaf_.Clear();
  return AddDivider(page_number);
}

Status IndexAppender::AddDivider(uint32_t left_child) {
  for (size_t depth = 0;; ++depth) {
    if (depth == interiors_.size()) {
      interiors_.emplace_back(BtreePage::Kind::kIndexInterior, file_->sizes());
    }
    BtreePage& page = interiors_[depth];
    if (page.Fits(kPageNumberBytes + divider_.size())) {
      AddInteriorCell(page, left_child);
      return Done{};
    }
    // As with a leaf: the newest entry goes up, and the child before it becomes the rightmost.
    const auto newest = page.NewestCell();
    page.SetRightmostChild(GetU32(newest.data()));
    next_divider_.assign(newest.begin() + kPageNumberBytes, newest.end());
    page.RemoveNewestCell();
    assert(page.cell_count() > 0);
    TRACEDB_ASSIGN(page_number, WriteNewPage(*file_, page.Finish()));
    page.Clear();
    AddInteriorCell(page, left_child);
    left_child = page_number;
    divider_.swap(next_divider_);
  }
}

void IndexAppender::AddInteriorCell(BtreePage& page, uint32_t left_child) {
  uint8_t* const cell = page.AddCell(kPageNumberBytes + divider_.size());
  PutU32(cell, left_child);
  std::memcpy(cell + kPageNumberBytes, divider_.data(), divider_.size());
}

Status IndexAppender::Finish() {
  if (entry_count_ == 0) return Done{};  // SQLite's own empty root stays
  // Every page up to the root becomes the rightmost child of the one above it.
  BtreePage* page = &leaf_;
  for (BtreePage& parent : interiors_) {
    TRACEDB_ASSIGN(page_number, WriteNewPage(*file_, page->Finish()));
    parent.SetRightmostChild(page_number);
    page = &parent;
  }
  return file_->WriteOldPage(root_page_, page->Finish());
}

}  // namespace tracedb
