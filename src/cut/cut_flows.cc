#include "cut/cut_flows.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "cut/cut_ranges.h"
#include "tracedb/schema/event_tables.h"

namespace tracedb {
namespace {

// Events of one category and id belong together, as in the view `flows`.
constexpr const char* kTablesSql =
    "DROP TABLE IF EXISTS temp.flow_end; DROP TABLE IF EXISTS temp.kept_flow;"
    "CREATE TEMP TABLE flow_end (id INTEGER PRIMARY KEY, category TEXT, flow_id, phase TEXT);"
    "CREATE TEMP TABLE kept_flow (id INTEGER PRIMARY KEY);";

// Where arrows begin: of each category and id the last begin before the window, on each track that
// is of the same thread. `slice_id` is the innermost slice there.
constexpr const char* kIncomingTablesSql =
    "DROP TABLE IF EXISTS temp.arrow; DROP TABLE IF EXISTS temp.arrow_slice; "
    "DROP TABLE IF EXISTS temp.incoming_slice;"
    "CREATE TEMP TABLE arrow (id INTEGER, category TEXT, flow_id, track INTEGER, ts INTEGER);"
    "CREATE TEMP TABLE arrow_slice (id INTEGER, slice_id INTEGER, ts INTEGER, dur INTEGER);"
    "CREATE TEMP TABLE incoming_slice (id INTEGER PRIMARY KEY);";
constexpr const char* kArrowsSql =
    "WITH open_end AS MATERIALIZED ("
    "  SELECT category, flow_id FROM temp.flow_end GROUP BY category, flow_id "
    "  HAVING max(phase = 'f') AND NOT max(phase = 's')),"
    "begin AS MATERIALIZED ("
    "  SELECT f.id, e.category, e.flow_id, f.track, max(f.ts) AS ts "
    "  FROM _flow f LEFT JOIN _event_name l ON l.id = f.event_name "
    "  JOIN open_end e ON e.flow_id = f.event_id AND e.category IS l.category "
    "  WHERE f.id BETWEEN ?1 AND ?2 AND f.phase = 's' AND f.ts < ?3 "
    "  GROUP BY e.category, e.flow_id)"
    "INSERT INTO temp.arrow SELECT b.id, b.category, b.flow_id, t.id, b.ts "
    "  FROM begin b JOIN _track o ON o.id = b.track "
    "  JOIN _track t ON t.trace_id = o.trace_id AND t.pid IS o.pid AND t.tid IS o.tid";
// A slice is over at its end, as for who reads the file; one without a length holds its start.
constexpr const char* kHoldingSql =
    "INSERT INTO temp.arrow_slice SELECT a.id, s.id, s.ts, s.dur FROM {} s "
    "  CROSS JOIN temp.arrow a ON a.track = s.track AND a.ts >= s.ts "
    "  AND (a.ts < s.ts + s.dur OR a.ts = s.ts) WHERE s.id BETWEEN ?1 AND ?2 AND s.dur >= 0 "
    "  AND s.ts < ?3";
constexpr const char* kInnermostSql =
    "DELETE FROM temp.arrow_slice WHERE rowid NOT IN (SELECT rowid FROM (SELECT rowid, "
    "row_number() "
    "  OVER (PARTITION BY id ORDER BY ts DESC, dur, slice_id DESC) AS place FROM temp.arrow_slice) "
    "  WHERE place = 1)";
constexpr const char* kKeepSql =
    "WITH whole AS (SELECT category, flow_id FROM temp.flow_end GROUP BY category, flow_id "
    "               HAVING max(phase = 's') AND max(phase = 'f'))"
    "INSERT INTO temp.kept_flow SELECT e.id FROM whole w CROSS JOIN temp.flow_end e "
    "  ON e.category IS w.category AND e.flow_id IS w.flow_id";

}  // namespace

Status ListWholeFlows(SqliteDb& db, const CutSource& trace, const KeepsRow& keeps) {
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

namespace {

// Which slice each begin of an arrow lies in.
Status FindSlices(SqliteDb& db, const CutSource& trace, int64_t start_ts) {
  TRACEDB_ASSIGN(arrows, db.Prepare(kArrowsSql));
  TRACEDB_TRY(arrows.Bind(1, trace.first_row));
  TRACEDB_TRY(arrows.Bind(2, trace.last_row));
  TRACEDB_TRY(arrows.Bind(3, start_ts));
  TRACEDB_TRY(arrows.Run());
  TRACEDB_TRY(db.Execute("CREATE INDEX temp.arrow_by_track ON arrow (track, ts)"));
  TRACEDB_ASSIGN(times, db.Prepare("SELECT min(ts), max(ts) FROM temp.arrow"));
  TRACEDB_TRY(times.Step());
  if (times.Type(0) == SqlType::kNull) return Done{};
  // The rows of that time alone: mostly launches are shortly before what they launch.
  CutSource around = trace;
  around.window = Interval{trace.base_ns + times.Int(0),
                           trace.base_ns + std::max(times.Int(1), times.Int(0)) + 1};
  const std::vector<RowRange> ranges = RangesInWindow(db, around);
  for (int i = 0; i < kEventTables; ++i) {
    const auto table = static_cast<EventTable>(i);
    if (!IsSliceTable(table)) continue;
    TRACEDB_ASSIGN(holding, db.Prepare(fmt::format(kHoldingSql, EventTableName(table))));
    for (const RowRange& range : ranges) {
      holding.Reset();
      TRACEDB_TRY(holding.Bind(1, range.first));
      TRACEDB_TRY(holding.Bind(2, range.last));
      TRACEDB_TRY(holding.Bind(3, start_ts));
      TRACEDB_TRY(holding.Run());
    }
  }
  return db.Execute(kInnermostSql);
}

// Those that are not wanted take their arrows with them.
Status DropUnwanted(SqliteDb& db, const CutSource& trace, const KeepsRow& keeps) {
  TRACEDB_TRY(
      db.Execute("INSERT INTO temp.incoming_slice SELECT DISTINCT slice_id "
                 "FROM temp.arrow_slice"));
  std::vector<int64_t> unwanted;
  {
    TRACEDB_ASSIGN(rows, CutRows::OpenSlices(db, trace, kSliceList));
    for (;;) {
      TRACEDB_ASSIGN(row, rows.Next());
      if (row == nullptr) break;
      TRACEDB_ASSIGN(kept, keeps(*row));
      if (!kept) unwanted.push_back(row->id);
    }
  }
  TRACEDB_ASSIGN(drop, db.Prepare("DELETE FROM temp.incoming_slice WHERE id = ?1"));
  for (const int64_t id : unwanted) {
    TRACEDB_TRY(drop.Bind(1, id));
    TRACEDB_TRY(drop.Run());
  }
  return db.Execute(
      "INSERT INTO temp.kept_flow SELECT id FROM temp.arrow_slice "
      "WHERE slice_id IN (SELECT id FROM temp.incoming_slice)");
}

}  // namespace

Status ListIncomingFlows(SqliteDb& db, const CutSource& trace, const KeepsRow& keeps) {
  TRACEDB_TRY(db.Execute(kIncomingTablesSql));
  if (!trace.window.has_value()) return Done{};
  const int64_t start_ts = TimeInRows(trace, trace.window->start_ns);
  TRACEDB_TRY(FindSlices(db, trace, start_ts));
  TRACEDB_TRY(DropUnwanted(db, trace, keeps));
  TRACEDB_TRY(db.Execute(
      "INSERT INTO temp.kept_flow SELECT e.id FROM temp.arrow a CROSS JOIN temp.flow_end e "
      "  ON e.category IS a.category AND e.flow_id IS a.flow_id "
      "WHERE a.id IN (SELECT id FROM temp.kept_flow) GROUP BY e.id"));
  // What reaches into the window is there already.
  TRACEDB_ASSIGN(inside, db.Prepare("DELETE FROM temp.incoming_slice WHERE id IN "
                                    "(SELECT slice_id FROM temp.arrow_slice WHERE ts + dur > ?1)"));
  TRACEDB_TRY(inside.Bind(1, start_ts));
  return inside.Run();
}

}  // namespace tracedb
