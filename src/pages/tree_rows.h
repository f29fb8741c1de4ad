// The rows of one b-tree of a database file, one after the other in its order. Nobody may change
// the file meanwhile.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

#include "tracedb/base/result.h"
#include "tracedb/pages/btree_page.h"

namespace tracedb {

class TreeRows {
 public:
  struct File {
    int descriptor;
    std::filesystem::path path;  // for messages
    PageSizes sizes;
    uint32_t pages;
  };
  struct Row {
    int64_t rowid = 0;                // of a table
    std::span<const uint8_t> record;  // so many bytes after it can be read as well
    static constexpr size_t kSlackBytes = 16;
  };

  TreeRows(const File& file, uint32_t root, bool is_index);

  // False after the last one. `row` is valid until the next call.
  Result<bool> Next(Row& row);

 private:
  // A page on the way down, and which of its cells comes next. Of an interior page each cell's
  // child comes first, then, in an index, the cell itself.
  struct Level {
    std::vector<uint8_t> page;
    uint32_t cell = 0;
    bool is_below_done = false;
  };

  Status Descend(uint32_t page);
  Result<bool> NextOfInterior(Level& level, Row& row);
  Status ReadCell(std::span<const uint8_t> cell, Row& row);
  Status ReadOverflow(uint32_t page, size_t bytes);
  Status ReadPage(uint32_t number, std::span<uint8_t> page);
  Error Damaged(const char* what) const;

  const File& file_;
  bool is_index_;
  size_t local_bytes_max_;
  uint64_t pages_read_ = 0;  // no more than there are
  std::vector<Level> levels_;
  size_t depth_ = 0;  // levels in use: their memory is kept
  uint32_t root_;
  std::vector<uint8_t> long_record_;
};

}  // namespace tracedb
