// The paths of kernels that replays launched, put into _launch: many rows at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_set>
#include <vector>

#include "ranks/graphs/graph_events.h"
#include "tracedb/base/result.h"
#include "tracedb/base/row_values.h"
#include "tracedb/base/sqlite_db.h"

namespace tracedb {

class PathUpdates {
 public:
  // `bytes_max` bounds what waits.
  static Result<PathUpdates> Open(SqliteDb& db, size_t bytes_max);

  // Rows of `correlation` are going to be read: what waits for them is put in first.
  Status BeforeReading(int64_t correlation);
  Status Add(int64_t correlation, int64_t id, const NodePath& path);
  // Puts in all that waits.
  Status Flush();

 private:
  PathUpdates(SqliteDb& db, RowValues values, size_t rows_max)
      : db_(&db), values_(std::move(values)), rows_max_(rows_max) {}
  Status Prepare(std::optional<SqliteStatement>& to, const char* sql);
  Status FlushRange();
  Status FlushEach();

  SqliteDb* db_;
  RowValues values_;
  size_t rows_max_;
  std::vector<RowUpdate> waiting_;
  std::unordered_set<int64_t> correlations_;  // of what waits
  int64_t last_ = 0;                          // the last of them
  std::optional<SqliteStatement> range_, each_;
};

}  // namespace tracedb
