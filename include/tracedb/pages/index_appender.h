// Fills one empty SQLite index, entry after entry, by writing its b-tree's pages.
//
// Entries come in the index's order, so each page is written once, when it is full, and never
// read again. That they agree with the table's rows is the caller's to see to; so is that they
// differ in more than the rowid where the index is UNIQUE.
//
// Knows the b-tree, not the entries: a record is bytes (see record_encoder.h).
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "tracedb/base/result.h"
#include "tracedb/pages/btree_page.h"
#include "tracedb/pages/page_bytes.h"
#include "tracedb/pages/page_file.h"

namespace tracedb {

// Not thread safe; several appenders, of tables too, may take turns on one file. Holds one page a
// level of the tree.
class IndexAppender {
 public:
  // `root_page` is what sqlite_schema says (rootpage); the index must be empty. `file` must
  // outlive the appender.
  static Result<IndexAppender> Create(PageFile& file, uint32_t root_page);

  uint64_t entry_count() const { return entry_count_; }

  // Entries must rise from call to call, as SQLite compares them: NULL before numbers before
  // texts, column by column, the other way round for a DESC column. `record` is the indexed
  // columns' values, then the rowid; it is copied, and is at most 1,000,000,000 bytes long, which
  // is SQLite's own limit.
  Status Append(std::span<const uint8_t> record) {
    assert(record.size() >= kRecordBytesMin);
    const size_t cell_bytes = VarintBytes(record.size()) + record.size();
    const bool is_plain = record.size() <= local_bytes_max_ && leaf_.Fits(cell_bytes);
    if (!is_plain) [[unlikely]]
      return AppendSlowly(record);
    uint8_t* const cell = PutVarint(leaf_.AddCell(cell_bytes), record.size());
    std::memcpy(cell, record.data(), record.size());
    ++entry_count_;
    return Done{};
  }

  // Writes the pages not yet full, and the tree's top to the root page. To be called once, last,
  // and before the file's Finish().
  Status Finish();

 private:
  // A header of three bytes: its size and the types of two columns. With that, every cell has
  // the least size that SQLite allows.
  static constexpr size_t kRecordBytesMin = 3;

  IndexAppender(PageFile& file, uint32_t root_page);

  Status AppendSlowly(std::span<const uint8_t> record);
  // Writes the leaf and empties it. An index's entries lie in the interior pages too, each
  // between two children: the leaf gives up its newest entry for that.
  Status FinishLeaf();
  // Adds `divider_`, with the child whose entries come before it, to the leaves' parents, and to
  // the levels above as pages fill up.
  Status AddDivider(uint32_t left_child);
  void AddInteriorCell(BtreePage& page, uint32_t left_child);

  PageFile* file_;
  uint32_t root_page_;
  size_t local_bytes_max_;  // a record up to this length stays whole in its cell
  uint64_t entry_count_ = 0;
  // The pages being filled. None is ever left without a cell: a full one has three at least, and
  // the next begins with the cell for which there was no room.
  BtreePage leaf_;
  std::vector<BtreePage> interiors_;  // by level, the leaves' parents first
  // Entries on their way up: cells of a leaf, with no child.
  std::vector<uint8_t> divider_;
  std::vector<uint8_t> next_divider_;
};

}  // namespace tracedb
