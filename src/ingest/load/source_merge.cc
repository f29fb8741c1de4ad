#include "ingest/load/source_merge.h"

#include <string>
#include <vector>

#include "ingest/load/open_to_change.h"
#include "tracedb/base/sqlite_db.h"
#include "tracedb/ranks/runs/decide_runs.h"

namespace tracedb {
namespace {

// Every table with rows of sources: those with the column source_id.
Result<std::vector<std::string>> SourceTables(SqliteDb& db) {
  std::vector<std::string> tables;
  TRACEDB_ASSIGN(rows, db.Prepare("SELECT name FROM fresh.sqlite_schema t WHERE type = 'table' AND "
                                  "EXISTS (SELECT 1 FROM pragma_table_info(t.name, 'fresh') c "
                                  "WHERE c.name = 'source_id') ORDER BY name"));
  for (;;) {
    TRACEDB_ASSIGN(row, rows.Step());
    if (!row) return tables;
    tables.emplace_back(rows.Text(0));
  }
}

Status TakeOut(SqliteDb& db, const std::vector<std::string>& tables, int64_t source_id) {
  for (const std::string& table : tables) {
    TRACEDB_TRY(db.Execute("DELETE FROM main." + table +
                           " WHERE source_id = " + std::to_string(source_id)));
  }
  return Done{};
}

// Sources move no trace.
Status DecidePlaces(SqliteDb& db) {
  TRACEDB_ASSIGN(moves, DecideRuns(db));
  (void)moves;
  return Done{};
}

}  // namespace

Status MergeSource(const MergeJob& job, SqliteDb& db, const std::set<int64_t>& outdated) {
  TRACEDB_ASSIGN(as_they_are, ReadTables(db));
  TRACEDB_TRY(HonourForeignKeys(db));
  TRACEDB_TRY(AttachFresh(db, job));
  TRACEDB_TRY(db.Execute("BEGIN IMMEDIATE"));
  TRACEDB_ASSIGN(tables, SourceTables(db));
  for (const int64_t source_id : outdated) TRACEDB_TRY(TakeOut(db, tables, source_id));
  TRACEDB_TRY(CopyTables(db, tables, as_they_are, job));
  // Alone in its file it is of a run of its own.
  TRACEDB_TRY(db.Execute("UPDATE main._source SET run_id = NULL WHERE source_id = " +
                         std::to_string(job.id)));
  TRACEDB_TRY(DecidePlaces(db));
  return db.Execute("COMMIT");
}

Status NameSourceRun(const std::filesystem::path& database, int64_t source_id,
                     const std::string& run, const LoadOptions& options) {
  TRACEDB_ASSIGN(db, OpenToChange(database, options));
  TRACEDB_TRY(db.Execute("BEGIN IMMEDIATE"));
  TRACEDB_ASSIGN(name, db.Prepare("UPDATE main._source SET named_run = ?2 WHERE source_id = ?1"));
  TRACEDB_TRY(name.Bind(1, source_id));
  TRACEDB_TRY(name.Bind(2, std::string_view(run)));
  TRACEDB_TRY(name.Run());
  TRACEDB_TRY(DecidePlaces(db));
  return db.Execute("COMMIT");
}

}  // namespace tracedb
