// Fills one empty SQLite table, row after row, by writing its b-tree's pages.
//
// For ordinary rowid tables. Rows come in rowid order, so each page is written once, when it is
// full, and never read again. It keeps nothing else in step: indexes, triggers and
// AUTOINCREMENT are the caller's (create indexes afterwards).
//
// Knows the b-tree, not the rows: a record is bytes (see record_encoder.h).
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <span>

#include "tracedb/base/apart_bytes.h"
#include "tracedb/base/result.h"
#include "tracedb/pages/btree_page.h"
#include "tracedb/pages/page_bytes.h"
#include "tracedb/pages/page_file.h"

namespace tracedb {

// Not thread safe; several appenders may take turns on one file, one for a table. Holds one page
// a level of the tree.
class alignas(kApartBytes) TableAppender {
 public:
  // `root_page` is what sqlite_schema says (rootpage); the table must be empty. `file` must
  // outlive the appender.
  static Result<TableAppender> Create(PageFile& file, uint32_t root_page);

  uint64_t row_count() const { return row_count_; }

  // Rowids must rise from call to call. `record` has one column or more, is copied, and is at
  // most 1,000,000,000 bytes long, which is SQLite's own limit.
  Status Append(int64_t rowid, std::span<const uint8_t> record) {
    assert(row_count_ == 0 || rowid > last_rowid_);
    assert(record.size() >= kRecordBytesMin);
    const size_t cell_bytes =
        VarintBytes(record.size()) + VarintBytes(static_cast<uint64_t>(rowid)) + record.size();
    const bool is_plain = record.size() <= local_bytes_max_ && leaf_.Fits(cell_bytes);
    if (!is_plain) [[unlikely]]
      return AppendSlowly(rowid, record);
    uint8_t* cell = leaf_.AddCell(cell_bytes);
    cell = PutVarint(cell, record.size());
    cell = PutVarint(cell, static_cast<uint64_t>(rowid));
    std::memcpy(cell, record.data(), record.size());
    last_rowid_ = rowid;
    ++row_count_;
    return Done{};
  }

  // Writes the pages not yet full, and the tree's top to the root page. To be called once, last,
  // and before the file's Finish().
  Status Finish();

 private:
  // SQLite cannot read a record of no column. With two bytes of record, every cell has the least
  // size that SQLite allows.
  static constexpr size_t kRecordBytesMin = 2;

  // A page already in the file, and the greatest rowid under it.
  struct Child {
    uint32_t page_number = 0;
    int64_t last_rowid = 0;
  };

  // The page being filled on one level above the leaves. A page is written when two more
  // children are known after its last cell, so the page after it never ends with no cell.
  struct InteriorLevel {
    BtreePage page;
    Child newest_cell = {};  // the child in the page's last cell
    Child waiting[2] = {};   // children after it; the first is rightmost if the page ends there
    int waiting_count = 0;
  };

  TableAppender(PageFile& file, uint32_t root_page);

  Status AppendSlowly(int64_t rowid, std::span<const uint8_t> record);
  Status FinishLeaf();

  // Adds to the level `depth`, counted from the leaves' parents at 0, and to those above as
  // pages fill up.
  Status AddChild(size_t depth, Child child);
  static void AddInteriorCell(InteriorLevel& level, Child child);
  // Writes the level's page with `rightmost` and empties it.
  Result<Child> FinishInterior(InteriorLevel& level, Child rightmost);
  Status FinishLevel(size_t depth);

  PageFile* file_;
  uint32_t root_page_;
  size_t local_bytes_max_;  // a record up to this length stays whole in its leaf
  uint64_t row_count_ = 0;
  int64_t last_rowid_ = 0;
  BtreePage leaf_;
  std::deque<InteriorLevel> levels_;
};

}  // namespace tracedb
