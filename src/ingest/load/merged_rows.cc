#include "ingest/load/merged_rows.h"

#include <utility>
#include <vector>

#include "ingest/load/open_to_change.h"
#include "ingest/load/trace_tables.h"
#include "tracedb/derive/collectives/derive_groups.h"
#include "tracedb/ranks/runs/decide_runs.h"
#include "tracedb/schema/event_tables.h"

namespace tracedb {
namespace {

// Copies the rows of the attached file, but for the tables in `done`.
Status CopyRows(SqliteDb& db, const std::set<std::string>& done, const DatabaseTables& as_they_are,
                const MergeJob& job) {
  std::vector<std::string> tables;
  const auto add = [&](std::string table) {
    if (!done.contains(table)) tables.push_back(std::move(table));
  };
  for (int i = 0; i < kEventTables; ++i) {
    add(std::string(EventTableName(static_cast<EventTable>(i))));
  }
  for (const char* table : kRowTables) add(table);
  for (const char* table : kTextTables) add(table);
  for (const char* table : kTraceTables) add(table);
  return CopyTables(db, tables, as_they_are, job);
}

// The trace's rows are there.
Status JoinRun(SqliteDb& db, int64_t trace_id) {
  // Its own file has it as a run by itself: wherever it comes here, it has moved.
  TRACEDB_ASSIGN(own, db.Prepare("UPDATE main._trace SET run_id = NULL WHERE trace_id = ?1"));
  TRACEDB_TRY(own.Bind(1, trace_id));
  TRACEDB_TRY(own.Run());
  return DecideRunsAnew(db, trace_id);
}

}  // namespace

Status MergeRows(SqliteDb& db, const std::set<std::string>& done, const DatabaseTables& tables,
                 const MergeJob& job) {
  TRACEDB_TRY(CopyRows(db, done, tables, job));
  return JoinRun(db, job.id);
}

Status DecideRunsAnew(SqliteDb& db, std::optional<int64_t> added) {
  TRACEDB_ASSIGN(moves, DecideRuns(db));
  for (const TraceMove& move : moves) {
    const auto go = move.trace_id == added ? MergeCollectives : MoveCollectives;
    TRACEDB_TRY(go(db, move.trace_id, move.run_id, move.capture_id));
  }
  return ForgetUnusedGroups(db);
}

Status NameRun(const std::filesystem::path& database, int64_t trace_id, const std::string& run,
               const LoadOptions& options) {
  TRACEDB_ASSIGN(db, OpenToChange(database, options));
  TRACEDB_TRY(db.Execute("BEGIN IMMEDIATE"));
  TRACEDB_ASSIGN(name, db.Prepare("UPDATE _trace SET named_run = ?2 "
                                  "WHERE trace_id = ?1 AND named_run IS NOT ?2"));
  TRACEDB_TRY(name.Bind(1, trace_id));
  TRACEDB_TRY(name.Bind(2, std::string_view(run)));
  TRACEDB_TRY(name.Run());
  TRACEDB_TRY(DecideRunsAnew(db));
  return db.Execute("COMMIT");
}

}  // namespace tracedb
