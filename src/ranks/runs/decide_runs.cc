#include "tracedb/ranks/runs/decide_runs.h"

#include <map>
#include <optional>
#include <string>

#include "ranks/runs/run_rules.h"

namespace tracedb {
namespace {

struct StoredPlace {
  std::optional<int64_t> run_id, capture_id, run_start_ns;
  bool operator==(const StoredPlace&) const = default;
};

std::optional<int64_t> IntOf(const SqliteStatement& row, int column) {
  if (row.Type(column) == SqlType::kNull) return std::nullopt;
  return row.Int(column);
}

std::optional<std::string> TextOf(const SqliteStatement& row, int column) {
  if (row.Type(column) == SqlType::kNull) return std::nullopt;
  return std::string(row.Text(column));
}

Status ReadTraces(SqliteDb& db, std::vector<RecordedTrace>& traces,
                  std::map<int64_t, StoredPlace>& stored) {
  TRACEDB_ASSIGN(rows, db.Prepare("SELECT trace_id, rank, folder, input_folder, named_run, "
                                  "  start_ns, end_ns, run_id, capture_id, run_start_ns "
                                  "FROM main._trace ORDER BY trace_id"));
  for (;;) {
    TRACEDB_ASSIGN(row, rows.Step());
    if (!row) return Done{};
    traces.push_back({rows.Int(0), rows.Int(1), std::string(rows.Text(2)), TextOf(rows, 3),
                      TextOf(rows, 4), IntOf(rows, 5), IntOf(rows, 6)});
    stored[rows.Int(0)] = {IntOf(rows, 7), IntOf(rows, 8), IntOf(rows, 9)};
  }
}

// What stays as it is keeps its row: users may have columns of their own in it, or refer to it.
Status WriteRuns(SqliteDb& db, const RunsAndCaptures& decided) {
  TRACEDB_ASSIGN(run, db.Prepare("INSERT INTO main._run (run_id, run, path) VALUES (?1, ?2, ?3) "
                                 "ON CONFLICT (run_id) DO UPDATE SET run = ?2, path = ?3 "
                                 "WHERE run <> ?2 OR path <> ?3"));
  for (const Run& found : decided.runs) {
    TRACEDB_TRY(run.Bind(1, found.run_id));
    TRACEDB_TRY(run.Bind(2, std::string_view(found.name)));
    TRACEDB_TRY(run.Bind(3, std::string_view(found.path)));
    TRACEDB_TRY(run.Run());
  }
  TRACEDB_ASSIGN(capture,
                 db.Prepare("INSERT INTO main._capture (capture_id, run_id, capture) "
                            "VALUES (?1, ?2, ?3) ON CONFLICT (capture_id) DO UPDATE "
                            "SET run_id = ?2, capture = ?3 WHERE run_id <> ?2 OR capture <> ?3"));
  for (const Capture& found : decided.captures) {
    TRACEDB_TRY(capture.Bind(1, found.capture_id));
    TRACEDB_TRY(capture.Bind(2, found.run_id));
    TRACEDB_TRY(capture.Bind(3, found.number));
    TRACEDB_TRY(capture.Run());
  }
  return Done{};
}

}  // namespace

Result<std::vector<TraceMove>> DecideRuns(SqliteDb& db) {
  std::vector<RecordedTrace> traces;
  std::map<int64_t, StoredPlace> stored;
  TRACEDB_TRY(ReadTraces(db, traces, stored));
  const RunsAndCaptures decided = SortIntoRuns(traces);
  TRACEDB_TRY(WriteRuns(db, decided));
  std::map<int64_t, std::optional<int64_t>> starts;
  for (const Run& run : decided.runs) starts[run.run_id] = run.start_ns;
  TRACEDB_ASSIGN(update, db.Prepare("UPDATE main._trace SET run_id = ?2, capture_id = ?3, "
                                    "run_start_ns = ?4 WHERE trace_id = ?1"));
  std::vector<TraceMove> moves;
  for (const TracePlace& place : decided.places) {
    const std::optional<int64_t> start_ns = starts[place.run_id];
    const StoredPlace& before = stored[place.trace_id];
    if (before == StoredPlace{place.run_id, place.capture_id, start_ns}) continue;
    if (before.run_id != place.run_id || before.capture_id != place.capture_id) {
      moves.push_back({place.trace_id, place.run_id, place.capture_id});
    }
    TRACEDB_TRY(update.Bind(1, place.trace_id));
    TRACEDB_TRY(update.Bind(2, place.run_id));
    TRACEDB_TRY(update.Bind(3, place.capture_id));
    TRACEDB_TRY(start_ns.has_value() ? update.Bind(4, *start_ns) : update.BindNull(4));
    TRACEDB_TRY(update.Run());
  }
  TRACEDB_TRY(db.Execute(
      "DELETE FROM main._run WHERE run_id NOT IN (SELECT run_id FROM main._trace);"
      "DELETE FROM main._capture WHERE capture_id NOT IN (SELECT capture_id FROM main._trace)"));
  return moves;
}

}  // namespace tracedb
