#include "tracedb/ingest/load/trace_removal.h"

#include <optional>
#include <string_view>

#include "ingest/load/database_landing.h"
#include "ingest/load/ingest_lock.h"
#include "ingest/load/merged_rows.h"
#include "ingest/load/open_to_change.h"
#include "ingest/load/table_copy.h"
#include "ingest/load/trace_tables.h"
#include "tracedb/base/database_files.h"
#include "tracedb/schema/event_tables.h"

namespace tracedb {
namespace {

namespace fs = std::filesystem;

// Made when something expires for the first time: most databases never have it.
constexpr const char* kMakeExpired =
    "CREATE TABLE IF NOT EXISTS _expired_file ("
    "path TEXT NOT NULL, file_hash TEXT NOT NULL, file_bytes INTEGER NOT NULL, "
    "expired_at TEXT NOT NULL, PRIMARY KEY (file_hash, file_bytes)) WITHOUT ROWID";

struct RowRange {
  int64_t first_row, last_row, first_text, last_text;
};

Result<std::optional<RowRange>> RowsOf(SqliteDb& db, int64_t trace_id) {
  TRACEDB_ASSIGN(rows, db.Prepare("SELECT first_row, last_row, first_text, last_text "
                                  "FROM main._trace WHERE trace_id = ?1"));
  TRACEDB_TRY(rows.Bind(1, trace_id));
  TRACEDB_ASSIGN(found, rows.Step());
  if (!found) return std::optional<RowRange>();
  return std::optional(RowRange{rows.Int(0), rows.Int(1), rows.Int(2), rows.Int(3)});
}

std::string Between(int64_t first, int64_t last) {
  return " WHERE id BETWEEN " + std::to_string(first) + " AND " + std::to_string(last);
}

Status TakeOutTrace(SqliteDb& db, int64_t trace_id) {
  TRACEDB_ASSIGN(range, RowsOf(db, trace_id));
  if (!range.has_value()) return Done{};
  const std::string rows_of = Between(range->first_row, range->last_row);
  const std::string texts_of = Between(range->first_text, range->last_text);
  for (int i = 0; i < kEventTables; ++i) {
    TRACEDB_TRY(db.Execute("DELETE FROM main." +
                           std::string(EventTableName(static_cast<EventTable>(i))) + rows_of));
  }
  for (const char* table : kRowTables) {
    TRACEDB_TRY(db.Execute("DELETE FROM main." + std::string(table) + rows_of));
  }
  for (const char* table : kTextTables) {
    TRACEDB_TRY(db.Execute("DELETE FROM main." + std::string(table) + texts_of));
  }
  TRACEDB_TRY(db.Execute("DELETE FROM main._collective_part" + rows_of));
  const std::string of_trace = " WHERE trace_id = " + std::to_string(trace_id);
  TRACEDB_TRY(db.Execute("DELETE FROM main._trace_group" + of_trace));
  for (const char* table : kTraceTables) {
    TRACEDB_TRY(db.Execute("DELETE FROM main." + std::string(table) + of_trace));
  }
  return Done{};
}

// Standard input has no file, and so no hash.
Status NoteExpired(SqliteDb& db, const std::vector<int64_t>& trace_ids) {
  TRACEDB_TRY(db.Execute(kMakeExpired));
  TRACEDB_ASSIGN(note, db.Prepare("INSERT OR REPLACE INTO _expired_file SELECT path, file_hash, "
                                  "file_bytes, strftime('%Y-%m-%dT%H:%M:%SZ', 'now') FROM _trace "
                                  "WHERE trace_id = ?1 AND file_hash IS NOT NULL"));
  for (const int64_t id : trace_ids) {
    TRACEDB_TRY(note.Bind(1, id));
    TRACEDB_TRY(note.Run());
    note.Reset();
  }
  return Done{};
}

constexpr const char* kForeignKeyFailed = "FOREIGN KEY constraint failed";

}  // namespace

Status TakeOutTraces(SqliteDb& db, const std::vector<int64_t>& trace_ids) {
  for (const int64_t id : trace_ids) TRACEDB_TRY(TakeOutTrace(db, id));
  return Done{};
}

namespace {

Status Remove(SqliteDb& db, const std::vector<int64_t>& trace_ids, RemovalReason reason) {
  TRACEDB_TRY(db.Execute("BEGIN IMMEDIATE"));
  if (reason == RemovalReason::kExpired) TRACEDB_TRY(NoteExpired(db, trace_ids));
  TRACEDB_TRY(TakeOutTraces(db, trace_ids));
  TRACEDB_TRY(DecideRunsAnew(db));
  return db.Execute("COMMIT");
}

}  // namespace

Status RemoveTraces(const fs::path& database, const std::vector<int64_t>& trace_ids,
                    RemovalReason reason, const LoadOptions& options) {
  const fs::path real = RealName(database);
  TRACEDB_ASSIGN(lock, IngestLock::Take(real, options));
  TRACEDB_ASSIGN(db, OpenToChange(real, options));
  TRACEDB_TRY(HonourForeignKeys(db));
  const Status removed = Remove(db, trace_ids, reason);
  if (removed.ok() || removed.error().what.find(kForeignKeyFailed) == std::string::npos) {
    return removed;
  }
  // A user's rows that refer to a trace, and do not say what becomes of them, keep no watch from
  // going on.
  TRACEDB_TRY(db.Execute("ROLLBACK; PRAGMA foreign_keys = OFF"));
  if (options.on_note) {
    options.on_note(real.string() +
                    ": a foreign key of your own refers to what is removed: its "
                    "rows stay as they are (ON DELETE CASCADE or SET NULL is honoured)");
  }
  return Remove(db, trace_ids, reason);
}

Result<std::vector<KnownFile>> ReadKnownFiles(const fs::path& database,
                                              const LoadOptions& options) {
  KeptConnection kept;
  TRACEDB_ASSIGN(landing, DatabaseLanding::Begin(database, options, kept));
  if (!landing.place().exists) return std::vector<KnownFile>();
  SqliteDb& db = kept.db();
  TRACEDB_ASSIGN(any_expired, db.Integer("SELECT count(*) FROM sqlite_schema WHERE name = "
                                         "'_expired_file'"));
  std::string sql = "SELECT file_hash, file_bytes, 0 FROM _trace WHERE file_hash IS NOT NULL";
  if (any_expired != 0) sql += " UNION ALL SELECT file_hash, file_bytes, 1 FROM _expired_file";
  TRACEDB_ASSIGN(rows, db.Prepare(sql));
  std::vector<KnownFile> known;
  for (;;) {
    TRACEDB_ASSIGN(row, rows.Step());
    if (!row) return known;
    known.push_back({std::string(rows.Text(0)), rows.Int(1), rows.Int(2) != 0});
  }
}

}  // namespace tracedb
