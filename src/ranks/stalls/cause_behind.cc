#include "ranks/stalls/cause_behind.h"

namespace tracedb {
namespace {

constexpr const char* kAnySql =
    "SELECT EXISTS (SELECT 1 FROM temp.behind_part p JOIN temp.found f ON f.id = p.id "
    "  WHERE f.cause = 'device' AND f.carried_id IS NULL)";

// Each trace has names of its own: compared by their texts.
constexpr const char* kTablesSql =
    "CREATE TEMP TABLE behind AS SELECT p.*, t.capture_id, s.rank, s.step, n.name, "
    "  s.start_ns - s.first_start_ns AS late_ns "
    "FROM temp.behind_part p "
    "JOIN temp.found f ON f.id = p.id JOIN temp.stall s ON s.id = f.id "
    "JOIN _trace t ON t.trace_id = s.trace_id LEFT JOIN _event_name n ON n.id = p.event_name "
    "WHERE f.cause = 'device' AND f.carried_id IS NULL;"
    "CREATE TEMP TABLE called AS SELECT t.capture_id, t.rank, u.step, n.name, "
    "  sum(u.total_ns) AS ns, sum(u.calls) AS calls FROM _host_use u "
    "JOIN _trace t ON t.trace_id = u.trace_id JOIN _event_name n ON n.id = u.event_name "
    "WHERE n.name IN (SELECT name FROM temp.behind) GROUP BY 1, 2, 3, 4;"
    "CREATE INDEX temp.called_by_name ON called (capture_id, name, step);"
    "CREATE TEMP TABLE behind_longer AS SELECT id, look, part, slice_id, name, text, late_ns, "
    "  iif(name IS NULL, 0, max(0, ns - slices * ifnull("
    "    (SELECT sum(c.ns) / sum(c.calls) FROM temp.called c "
    "     WHERE c.capture_id = b.capture_id AND c.name = b.name AND c.rank <> b.rank "
    "       AND (c.step IS b.step OR (b.look = 2 AND c.step = b.step - 1))), 0))) AS longer_ns "
    "FROM temp.behind b";

// The longest slice, or all that the thread did, takes longer than such slices do on the other
// ranks on average, by half of the wait. All is named by what takes most longer.
constexpr const char* kJudgeSql =
    "UPDATE temp.found SET cause = 'host', cause_slice_id = j.slice_id, cause_name = j.name "
    "FROM (SELECT id, slice_id, name FROM (SELECT l.id, "
    "        iif(l.by_one OR w.part = 1, l.slice_id, w.slice_id) AS slice_id, "
    "        iif(l.by_one OR w.part = 1, ifnull(l.name, l.text), w.name) AS name, "
    "        row_number() OVER (PARTITION BY l.id ORDER BY l.look, w.longer_ns DESC, w.part) "
    "          AS place "
    "      FROM (SELECT id, look, max(iif(part = 0, slice_id, NULL)) AS slice_id, "
    "              max(iif(part = 0, name, NULL)) AS name, min(text) AS text, "
    "              max(iif(part = 0, name IS NULL OR 2 * longer_ns >= late_ns, 0)) AS by_one "
    "            FROM temp.behind_longer GROUP BY id, look "
    "            HAVING 2 * max(sum(iif(part = 0, longer_ns, 0)), "
    "                           sum(iif(part > 0, longer_ns, 0))) >= late_ns) l "
    "      LEFT JOIN temp.behind_longer w ON w.id = l.id AND w.look = l.look AND w.part > 0) "
    "  WHERE place = 1) j WHERE j.id = found.id;"
    "DROP TABLE temp.behind; DROP TABLE temp.called; DROP TABLE temp.behind_longer";

}  // namespace

Status JudgeBehind(SqliteDb& db) {
  TRACEDB_ASSIGN(any, db.Integer(kAnySql));
  if (any == 0) return Done{};
  TRACEDB_TRY(db.Execute(kTablesSql));
  return db.Execute(kJudgeSql);
}

}  // namespace tracedb
