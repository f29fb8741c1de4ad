#include "tracedb/schema/empty_database.h"

#include <vector>

#include "tracedb/base/sqlite_db.h"
#include "tracedb/schema/schema_sql.h"

namespace tracedb {
namespace {

Result<std::vector<uint8_t>> MakeEmpty() {
  TRACEDB_ASSIGN(db, SqliteDb::OpenInMemory());
  // 16 KiB pages: few enough to write fast, small enough for a look-up of one row.
  TRACEDB_TRY(
      db.Execute("PRAGMA page_size = 16384; PRAGMA journal_mode = OFF;"
                 "PRAGMA auto_vacuum = NONE; BEGIN"));
  TRACEDB_TRY(db.Execute(TablesSql()));
  TRACEDB_TRY(db.Execute("COMMIT"));
  return db.Bytes();
}

}  // namespace

Result<std::span<const uint8_t>> EmptyDatabase() {
  static const Result<std::vector<uint8_t>> made = MakeEmpty();
  if (!made.ok()) return made.error();
  return std::span<const uint8_t>(made.value());
}

}  // namespace tracedb
