#include "ingest/fresh_rows.h"

#include <algorithm>

#include "tracedb/base/sqlite_db.h"

namespace tracedb {
namespace {

// NOT INDEXED matters: the indexes are still empty, and SQLite would answer from them.
template <typename Row, typename Read>
Result<std::vector<Row>> ReadSorted(const std::filesystem::path& file, size_t rows_max,
                                    std::string_view sql, Read read) {
  TRACEDB_ASSIGN(db, SqliteDb::Open(file, SqliteMode::kFrozen));
  TRACEDB_ASSIGN(statement, db.Prepare(sql));
  std::vector<Row> rows;
  rows.reserve(rows_max);
  for (;;) {
    TRACEDB_ASSIGN(row, statement.Step());
    if (!row) break;
    rows.push_back(read(statement));
  }
  return rows;
}

}  // namespace

Result<std::vector<TimedActivity>> ReadTimedActivities(const std::filesystem::path& file,
                                                       size_t rows_max) {
  TRACEDB_ASSIGN(
      rows,
      ReadSorted<TimedActivity>(
          file, rows_max, "SELECT ts, dur, track, kind FROM gpu_slice NOT INDEXED WHERE dur >= 0",
          [](const SqliteStatement& row) {
            return TimedActivity{row.Int(0), row.Int(1), row.Int(2), static_cast<int>(row.Int(3))};
          }));
  std::sort(rows.begin(), rows.end(),
            [](const TimedActivity& a, const TimedActivity& b) { return a.ts < b.ts; });
  return rows;
}

Result<std::vector<TrackEntry>> ReadTrackEntries(const std::filesystem::path& file,
                                                 size_t rows_max) {
  TRACEDB_ASSIGN(rows, ReadSorted<TrackEntry>(
                           file, rows_max, "SELECT track, ts, id FROM gpu_slice NOT INDEXED",
                           [](const SqliteStatement& row) {
                             return TrackEntry{row.Int(0), row.Int(1), row.Int(2)};
                           }));
  std::sort(rows.begin(), rows.end());
  return rows;
}

Result<std::vector<CorrelationEntry>> ReadCorrelationEntries(const std::filesystem::path& file,
                                                             size_t rows_max) {
  TRACEDB_ASSIGN(rows,
                 ReadSorted<CorrelationEntry>(
                     file, rows_max, "SELECT track, correlation, id FROM gpu_slice NOT INDEXED",
                     [](const SqliteStatement& row) {
                       return CorrelationEntry{row.Int(0), row.Type(1) != SqlType::kNull,
                                               row.Int(1), row.Int(2)};
                     }));
  std::sort(rows.begin(), rows.end());
  return rows;
}

}  // namespace tracedb
