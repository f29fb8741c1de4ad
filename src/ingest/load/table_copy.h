// Copies rows of another file's tables to the same tables of a database, and honours what its
// users have made of these: columns, triggers, foreign keys.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "ingest/load/database_check.h"
#include "tracedb/base/result.h"
#include "tracedb/base/sqlite_db.h"
#include "tracedb/ingest/load/trace_load.h"

namespace tracedb {

struct MergeJob {
  std::filesystem::path database;
  std::filesystem::path partial;  // complete, and open nowhere; holds one trace or source
  const LoadOptions& options;
  int64_t id;  // of the trace or source, and what it was read from:
  std::string path;
  std::string text_hash;
};

// Attaches job.partial as `fresh`.
Status AttachFresh(SqliteDb& db, const MergeJob& job);

// All rows of these tables of `fresh`, within the transaction that is open.
Status CopyTables(SqliteDb& db, const std::vector<std::string>& tables,
                  const DatabaseTables& as_they_are, const MergeJob& job);

// `text` as a literal of SQL.
std::string QuotedSql(const std::string& text);

// SQLite leaves foreign keys alone unless it is asked not to: only users have any. Outside of a
// transaction. The list of a table is read where its text may have one; those of all tables took
// 0.5 ms.
Status HonourForeignKeys(SqliteDb& db);

}  // namespace tracedb
