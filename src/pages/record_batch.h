// Records in memory as a table that SQL can select from: the virtual table `record_batch`, with the
// columns c0, c1, ... and the rowid.
//
// Nothing is copied: values are read out of the records when SQLite asks for them.
#pragma once

#include <cstdint>
#include <span>

#include "tracedb/base/result.h"
#include "tracedb/base/sqlite_db.h"

namespace tracedb {

inline constexpr const char* kRecordBatchName = "record_batch";

struct BatchRow {
  int64_t rowid = 0;
  const uint8_t* record = nullptr;  // as RecordEncoder makes them: it says itself where it ends
};

struct RecordBatch {
  std::span<const BatchRow> rows;
};

// Makes the table known to `db`. It has whatever is in `batch` when a statement begins, which must
// stay until that ends; `batch` must outlive the connection. A record with fewer columns has NULL
// in the others.
Status RegisterRecordBatch(SqliteDb& db, int columns, const RecordBatch& batch);

}  // namespace tracedb
