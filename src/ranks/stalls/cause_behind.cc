#include "ranks/stalls/cause_behind.h"

namespace tracedb {
namespace {

constexpr const char* kAnySql =
    "SELECT EXISTS (SELECT 1 FROM temp.behind_part p JOIN temp.found f ON f.id = p.id "
    "  WHERE f.cause = 'device' AND f.carried_id IS NULL)";

// Each trace has names of its own: compared by their texts. Of each stall the longest slice, as
// long as it was, with part 0; and all that the thread did.
constexpr const char* kTablesSql =
    "CREATE TEMP TABLE behind AS SELECT f.id, t.capture_id, s.rank, s.step, n.name, p.part, p.ns, "
    "  p.slices, s.start_ns - s.first_start_ns AS late_ns "
    "FROM (SELECT id, 0 AS part, behind_event_name AS event_name, behind_ns AS ns, 1 AS slices "
    "      FROM temp.found WHERE behind_slice_id IS NOT NULL "
    "      UNION ALL SELECT id, 1, event_name, own_ns, slices FROM temp.behind_part) p "
    "JOIN temp.found f ON f.id = p.id JOIN temp.stall s ON s.id = f.id "
    "JOIN _trace t ON t.trace_id = s.trace_id JOIN _event_name n ON n.id = p.event_name "
    "WHERE f.cause = 'device' AND f.carried_id IS NULL;"
    "CREATE TEMP TABLE called AS SELECT t.capture_id, t.rank, u.step, n.name, "
    "  sum(u.total_ns) AS ns, sum(u.calls) AS calls FROM _host_use u "
    "JOIN _trace t ON t.trace_id = u.trace_id JOIN _event_name n ON n.id = u.event_name "
    "WHERE n.name IN (SELECT name FROM temp.behind) GROUP BY 1, 2, 3, 4;"
    "CREATE INDEX temp.called_by_name ON called (capture_id, name, step)";

// One slice, or all that the thread did, takes longer than such slices do on the other ranks on
// average, by half of the wait.
constexpr const char* kJudgeSql =
    "UPDATE temp.found SET cause = 'host', cause_slice_id = behind_slice_id, cause_name = "
    "  ifnull((SELECT name FROM _event_name n WHERE n.id = behind_event_name), behind_text) "
    "WHERE id IN (SELECT id FROM (SELECT b.id, b.late_ns, max(0, b.ns - b.slices * ifnull("
    "    (SELECT sum(c.ns) / sum(c.calls) FROM temp.called c "
    "     WHERE c.capture_id = b.capture_id AND c.name = b.name AND c.step IS b.step "
    "       AND c.rank <> b.rank), 0)) AS longer_ns, b.part FROM temp.behind b) "
    "  GROUP BY id, part HAVING 2 * sum(longer_ns) >= late_ns);"
    "DROP TABLE temp.behind; DROP TABLE temp.called";

}  // namespace

Status JudgeBehind(SqliteDb& db) {
  TRACEDB_ASSIGN(any, db.Integer(kAnySql));
  if (any == 0) return Done{};
  TRACEDB_TRY(db.Execute(kTablesSql));
  return db.Execute(kJudgeSql);
}

}  // namespace tracedb
