#include "pages/table_appender.h"

#include <array>
#include <string>

#include "pages/record_pages.h"

namespace tracedb {
namespace {

size_t InteriorCellBytes(int64_t last_rowid) {
  return kPageNumberBytes + VarintBytes(static_cast<uint64_t>(last_rowid));
}

}  // namespace

TableAppender::TableAppender(PageFile& file, uint32_t root_page)
    : file_(&file),
      root_page_(root_page),
      local_bytes_max_(TableLocalBytesMax(file.sizes())),
      leaf_(BtreePage::Kind::kTableLeaf, file.sizes()) {}

Result<TableAppender> TableAppender::Create(PageFile& file, uint32_t root_page) {
  const std::string where = file.path().string() + ": page " + std::to_string(root_page);
  if (root_page < 2 || root_page > file.page_count()) {
    return Error{ErrorKind::kOutput, where + " is no table's root", ""};
  }
  constexpr size_t kCellCountAt = 3;
  std::array<uint8_t, kCellCountAt + 2> page;
  TRACEDB_TRY(file.ReadOldStart(root_page, page));
  if (page[0] != static_cast<uint8_t>(BtreePage::Kind::kTableLeaf) ||
      GetU16(&page[kCellCountAt]) != 0) {
    return Error{ErrorKind::kOutput, where + " is not the root of an empty rowid table",
                 "rows can be added this way only to a table that has none"};
  }
  return TableAppender(file, root_page);
}

Status TableAppender::AppendSlowly(int64_t rowid, std::span<const uint8_t> record) {
  TRACEDB_TRY(CheckRecordBytes(*file_, record.size()));
  const size_t local_bytes = LocalBytes(record.size(), local_bytes_max_, file_->sizes());
  const bool spills = local_bytes < record.size();
  const size_t cell_bytes = VarintBytes(record.size()) + VarintBytes(static_cast<uint64_t>(rowid)) +
                            local_bytes + (spills ? kPageNumberBytes : 0);
  if (!leaf_.Fits(cell_bytes)) TRACEDB_TRY(FinishLeaf());
  uint32_t overflow_page = 0;
  if (spills) {
    TRACEDB_ASSIGN(first_page, WriteOverflow(*file_, record.subspan(local_bytes)));
    overflow_page = first_page;
  }
  uint8_t* cell = leaf_.AddCell(cell_bytes);
  cell = PutVarint(cell, record.size());
  cell = PutVarint(cell, static_cast<uint64_t>(rowid));
  std::memcpy(cell, record.data(), local_bytes);
  if (spills) PutU32(cell + local_bytes, overflow_page);
  last_rowid_ = rowid;
  ++row_count_;
  return Done{};
}

Status TableAppender::FinishLeaf() {
  TRACEDB_ASSIGN(page_number, WriteNewPage(*file_, leaf_.Finish()));
  leaf_.Clear();
  return AddChild(0, Child{page_number, last_rowid_});
}

Status TableAppender::AddChild(size_t depth, Child child) {
  for (;; ++depth) {
    if (depth == levels_.size()) {
      levels_.push_back({BtreePage(BtreePage::Kind::kTableInterior, file_->sizes())});
    }
    InteriorLevel& level = levels_[depth];
    const bool is_full =
        level.waiting_count > 0 && !level.page.Fits(InteriorCellBytes(level.waiting[0].last_rowid));
    if (level.waiting_count == 0 || (is_full && level.waiting_count == 1)) {
      level.waiting[level.waiting_count++] = child;
      return Done{};
    }
    if (!is_full) {
      AddInteriorCell(level, level.waiting[0]);
      level.waiting[0] = child;
      return Done{};
    }
    TRACEDB_ASSIGN(finished, FinishInterior(level, level.waiting[0]));
    AddInteriorCell(level, level.waiting[1]);
    level.waiting[0] = child;
    level.waiting_count = 1;
    child = finished;
  }
}

void TableAppender::AddInteriorCell(InteriorLevel& level, Child child) {
  uint8_t* cell = level.page.AddCell(InteriorCellBytes(child.last_rowid));
  PutU32(cell, child.page_number);
  PutVarint(cell + kPageNumberBytes, static_cast<uint64_t>(child.last_rowid));
  level.newest_cell = child;
}

Result<TableAppender::Child> TableAppender::FinishInterior(InteriorLevel& level, Child rightmost) {
  level.page.SetRightmostChild(rightmost.page_number);
  TRACEDB_ASSIGN(page_number, WriteNewPage(*file_, level.page.Finish()));
  level.page.Clear();
  return Child{page_number, rightmost.last_rowid};
}

Status TableAppender::Finish() {
  if (row_count_ == 0) return Done{};  // SQLite's own empty root stays
  if (levels_.empty()) return file_->WriteOldPage(root_page_, leaf_.Finish());
  TRACEDB_TRY(FinishLeaf());
  // Finishing a level can add one above it.
  for (size_t depth = 0; depth < levels_.size(); ++depth) TRACEDB_TRY(FinishLevel(depth));
  return Done{};
}

Status TableAppender::FinishLevel(size_t depth) {
  InteriorLevel& level = levels_[depth];
  if (level.waiting_count == 2) {
    // One child too many for the full page, and one alone makes no page: the page gives its last
    // cell's child up, as its rightmost, and the two that wait make a page of one cell.
    const Child last = level.newest_cell;
    level.page.RemoveNewestCell();
    TRACEDB_ASSIGN(finished, FinishInterior(level, last));
    AddInteriorCell(level, level.waiting[0]);
    level.waiting[0] = level.waiting[1];
    level.waiting_count = 1;
    TRACEDB_TRY(AddChild(depth + 1, finished));
  }
  assert(level.waiting_count == 1 && level.page.cell_count() > 0);
  if (depth + 1 < levels_.size()) {
    TRACEDB_ASSIGN(finished, FinishInterior(level, level.waiting[0]));
    return AddChild(depth + 1, finished);
  }
  level.page.SetRightmostChild(level.waiting[0].page_number);
  return file_->WriteOldPage(root_page_, level.page.Finish());
}

}  // namespace tracedb
