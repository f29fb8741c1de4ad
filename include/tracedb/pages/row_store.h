// Fills empty tables of a database file that nobody else uses yet, by writing the pages of their
// b-trees.
//
// Knows tables by number, and a row as a record (see record_encoder.h); nothing of what it means.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <vector>

#include "tracedb/base/result.h"

namespace tracedb {

class PageFile;
class TableAppender;

// Not thread safe.
class RowStore {
 public:
  // `path` is a database that no connection writes to, with a schema; `roots` are the root pages of
  // tables in it, which are numbered from 0 in the calls below. Until Finish() has succeeded the
  // file is no sound database. `on_thread`: pages are written beside the caller.
  static Result<RowStore> Open(const std::filesystem::path& path,
                               const std::vector<uint32_t>& roots, bool on_thread = false);
  RowStore(RowStore&&) noexcept;
  RowStore& operator=(RowStore&&) noexcept;
  ~RowStore();

  // Rowids of each table must rise from call to call. `record` is copied; where the table has an
  // INTEGER PRIMARY KEY, the record has NULL in its place, and the rowid is its value.
  Status Append(size_t table, int64_t rowid, std::span<const uint8_t> record);

  // To be called once, last; the file is closed then. The tables' indexes are left empty, for the
  // caller to fill.
  Status Finish();

 private:
  explicit RowStore(std::unique_ptr<PageFile> file);

  std::unique_ptr<PageFile> file_;
  std::vector<TableAppender> tables_;
};

}  // namespace tracedb
