// Fills empty tables of a database file that nobody else uses yet, in one of two ways: by writing
// the b-trees' pages, or through SQLite alone. Both leave the same rows.
//
// Through SQLite takes several times as long. It is there to hold our own pages against, and to
// fall back on should the file format ever change.
//
// Knows tables by number, and a row as a record (see record_encoder.h); nothing of what it means.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "tracedb/base/result.h"

namespace tracedb {

enum class RowWriter { kPages, kSqlite };

struct RowStoreOptions {
  RowWriter writer = RowWriter::kPages;
  int64_t cache_kib = 2048;  // kSqlite: its page cache
};

// Not thread safe.
class RowStore {
 public:
  // `path` is a database that no connection writes to, with a schema; `tables` are names in it, and
  // are numbered from 0 in the calls below. Until Finish() has succeeded the file is no sound
  // database.
  static Result<std::unique_ptr<RowStore>> Open(const std::filesystem::path& path,
                                                const std::vector<std::string>& tables,
                                                const RowStoreOptions& options);
  virtual ~RowStore();

  // Rowids of each table must rise from call to call. `record` is copied; where the table has an
  // INTEGER PRIMARY KEY, the record has NULL in its place, and the rowid is its value.
  virtual Status Append(size_t table, int64_t rowid, std::span<const uint8_t> record) = 0;

  // To be called once, last; the file is closed then. The tables' indexes are filled by kSqlite;
  // kPages leaves them empty for the caller to fill.
  virtual Status Finish() = 0;

 protected:
  RowStore() = default;
};

}  // namespace tracedb
