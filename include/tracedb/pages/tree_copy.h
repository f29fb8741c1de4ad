// Copies tables and indexes of one database file into the empty ones of another, row by row, past
// SQLite, and adds a number to some integers of each row on the way: to ids that are to begin
// elsewhere.
//
// Knows b-trees and records; nothing of what the numbers mean.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <vector>

#include "tracedb/base/result.h"

namespace tracedb {

struct CopiedTree {
  struct Sum {
    size_t column;  // in the record: an index's last one is the rowid
    int64_t add;
  };

  uint32_t root = 0;      // its page, in both files
  bool is_index = false;  // also a table WITHOUT ROWID
  int64_t add_to_rowid = 0;
  std::vector<Sum> sums;  // by column, rising. What is NULL stays so.
};

// No connection may have one of the files open. The order of the rows must be the same after the
// sums. `to` is synced by nobody; after an error it is no sound database. An error of kOutput also
// where `from` is none, where a sum's column is no integer, or its value leaves 64 bits.
Status CopyTrees(const std::filesystem::path& from, const std::filesystem::path& to,
                 const std::vector<CopiedTree>& trees);

}  // namespace tracedb
