#include "ranks/stalls/cause_behind.h"

namespace tracedb {
namespace {

constexpr const char* kAnySql =
    "SELECT EXISTS (SELECT 1 FROM temp.found WHERE behind_slice_id IS NOT NULL "
    "  AND cause = 'device' AND carried_id IS NULL)";

// Each trace has names of its own: compared by their texts.
constexpr const char* kTablesSql =
    "CREATE TEMP TABLE behind AS SELECT f.id, t.capture_id, s.rank, s.step, n.name, f.behind_ns, "
    "  s.start_ns - s.first_start_ns AS late_ns "
    "FROM temp.found f JOIN temp.stall s ON s.id = f.id JOIN _trace t ON t.trace_id = s.trace_id "
    "JOIN _event_name n ON n.id = f.behind_event_name "
    "WHERE f.behind_slice_id IS NOT NULL AND f.cause = 'device' AND f.carried_id IS NULL;"
    "CREATE INDEX temp.behind_by_id ON behind (id);"
    "CREATE TEMP TABLE called AS SELECT t.capture_id, t.rank, u.step, n.name, "
    "  sum(u.total_ns) AS ns, sum(u.calls) AS calls FROM _host_use u "
    "JOIN _trace t ON t.trace_id = u.trace_id JOIN _event_name n ON n.id = u.event_name "
    "WHERE n.name IN (SELECT name FROM temp.behind) GROUP BY 1, 2, 3, 4;"
    "CREATE INDEX temp.called_by_name ON called (capture_id, name, step)";

constexpr const char* kJudgeSql =
    "UPDATE temp.found SET cause = 'host', cause_slice_id = behind_slice_id, "
    "  cause_name = (SELECT name FROM temp.behind b WHERE b.id = found.id) "
    "WHERE id IN (SELECT b.id FROM temp.behind b WHERE 2 * (b.behind_ns - "
    "  ifnull((SELECT sum(c.ns) / sum(c.calls) FROM temp.called c "
    "          WHERE c.capture_id = b.capture_id AND c.name = b.name AND c.step IS b.step "
    "            AND c.rank <> b.rank), 0)) >= b.late_ns);"
    "DROP TABLE temp.behind; DROP TABLE temp.called";

}  // namespace

Status JudgeBehind(SqliteDb& db) {
  TRACEDB_ASSIGN(any, db.Integer(kAnySql));
  if (any == 0) return Done{};
  TRACEDB_TRY(db.Execute(kTablesSql));
  return db.Execute(kJudgeSql);
}

}  // namespace tracedb
