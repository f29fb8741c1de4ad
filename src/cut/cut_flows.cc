#include "cut/cut_flows.h"

namespace tracedb {
namespace {

// Events of one category and id belong together, as in the view `flows`.
constexpr const char* kTablesSql =
    "DROP TABLE IF EXISTS temp.flow_end; DROP TABLE IF EXISTS temp.kept_flow;"
    "CREATE TEMP TABLE flow_end (id INTEGER PRIMARY KEY, category TEXT, flow_id, phase TEXT);"
    "CREATE TEMP TABLE kept_flow (id INTEGER PRIMARY KEY);";
constexpr const char* kKeepSql =
    "WITH whole AS (SELECT category, flow_id FROM temp.flow_end GROUP BY category, flow_id "
    "               HAVING max(phase = 's') AND max(phase = 'f'))"
    "INSERT INTO temp.kept_flow SELECT e.id FROM whole w CROSS JOIN temp.flow_end e "
    "  ON e.category IS w.category AND e.flow_id IS w.flow_id";

}  // namespace

Status ListWholeFlows(SqliteDb& db, const CutSource& trace,
                      const std::function<Result<bool>(const CutRow&)>& keeps) {
  TRACEDB_TRY(db.Execute(kTablesSql));
  TRACEDB_ASSIGN(insert, db.Prepare("INSERT INTO temp.flow_end SELECT f.id, l.category, "
                                    "f.event_id, f.phase FROM _flow f LEFT JOIN _event_name l "
                                    "ON l.id = f.event_name WHERE f.id = ?1"));
  TRACEDB_ASSIGN(rows, CutRows::OpenOne(db, trace, EventTable::kFlow));
  for (;;) {
    TRACEDB_ASSIGN(row, rows.Next());
    if (row == nullptr) break;
    TRACEDB_ASSIGN(kept, keeps(*row));
    if (!kept) continue;
    TRACEDB_TRY(insert.Bind(1, row->id));
    TRACEDB_TRY(insert.Run());
  }
  TRACEDB_TRY(
      db.Execute("CREATE INDEX temp.flow_end_by_id ON flow_end (flow_id, category, phase)"));
  return db.Execute(kKeepSql);
}

}  // namespace tracedb
