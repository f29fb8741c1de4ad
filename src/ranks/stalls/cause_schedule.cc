#include "ranks/stalls/cause_schedule.h"

namespace tracedb {
namespace {

// Stages are ranks that send each other messages, or are in a group for pipeline parallelism.
constexpr const char* kStagesSql =
    "CREATE TEMP TABLE stage (run_id INTEGER, rank INTEGER, other INTEGER, "
    "  PRIMARY KEY (run_id, rank, other)) WITHOUT ROWID;"
    "INSERT OR IGNORE INTO temp.stage SELECT t.run_id, p.rank, p.peer FROM _collective_part p "
    "  JOIN _trace t ON t.trace_id = p.trace_id WHERE p.pair <> '' AND p.peer <> p.rank;"
    "INSERT OR IGNORE INTO temp.stage SELECT g.run_id, a.value, b.value FROM _process_group g, "
    "  json_each(g.ranks) a, json_each(g.ranks) b "
    "  WHERE g.parallelism = 'pipeline' AND a.value <> b.value";

constexpr const char* kCandidatesSql =
    "CREATE TEMP TABLE worked AS SELECT c.id, t.capture_id, c.rank, c.step, c.cause_name AS name, "
    "  c.start_ns - c.first_start_ns AS late_ns "
    "FROM _collective_cause c JOIN _trace t ON t.trace_id = c.trace_id "
    "WHERE c.cause IN ('device', 'schedule') AND c.cause_slice_id IS NOT NULL "
    "  AND c.carried_id IS NULL AND (c.group_id, c.rank) IN ("
    "    SELECT g.group_id, s.rank FROM _process_group g, json_each(g.ranks) r "
    "    JOIN temp.stage s ON s.run_id = g.run_id AND s.other = r.value);"
    "CREATE INDEX temp.worked_by_id ON worked (id);"
    "CREATE TEMP TABLE spent (capture_id INTEGER, step INTEGER, name TEXT, rank INTEGER, "
    "  ns INTEGER, place INTEGER, ranks INTEGER);"
    "INSERT INTO temp.spent SELECT *, row_number() OVER (w ORDER BY ns, rank), count(*) OVER w "
    "FROM (SELECT t.capture_id, u.step, n.name, t.rank, sum(u.gpu_ns) AS ns FROM _kernel_use u "
    "  JOIN _trace t ON t.trace_id = u.trace_id JOIN _event_name n ON n.id = u.kernel "
    "  WHERE n.name IN (SELECT name FROM temp.worked) GROUP BY 1, 2, 3, 4) "
    "WINDOW w AS (PARTITION BY capture_id, step, name);"
    "CREATE INDEX temp.spent_by_place ON spent (capture_id, step, name, place);"
    "CREATE INDEX temp.spent_by_rank ON spent (capture_id, step, name, rank)";

// Compared with the middle one of the other ranks, of two in the middle the one with less time: the
// place of it among all is one more where the own one is before it.
constexpr const char* kJudgeSql =
    "UPDATE _collective_cause SET cause = (SELECT iif(2 * (own.ns - o.ns) < w.late_ns, "
    "    'schedule', 'device') "
    "  FROM temp.worked w LEFT JOIN temp.spent own ON own.capture_id = w.capture_id "
    "    AND own.step IS w.step AND own.name = w.name AND own.rank = w.rank "
    "  LEFT JOIN temp.spent o ON own.ranks > 1 AND o.capture_id = own.capture_id "
    "    AND o.step IS own.step AND o.name = own.name "
    "    AND o.place = own.ranks / 2 + (own.place <= own.ranks / 2) "
    "  WHERE w.id = _collective_cause.id) "
    "WHERE id IN (SELECT id FROM temp.worked)";

}  // namespace

Status JudgeSchedules(SqliteDb& db) {
  TRACEDB_TRY(db.Execute(kStagesSql));
  TRACEDB_TRY(db.Execute(kCandidatesSql));
  TRACEDB_TRY(db.Execute(kJudgeSql));
  return db.Execute("DROP TABLE temp.stage; DROP TABLE temp.worked; DROP TABLE temp.spent");
}

}  // namespace tracedb
