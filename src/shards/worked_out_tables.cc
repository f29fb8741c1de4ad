#include "shards/worked_out_tables.h"

#include <optional>
#include <string>
#include <unordered_map>

#include "shards/busy_outline.h"
#include "tracedb/base/interval.h"
#include "tracedb/schema/event_tables.h"
#include "tracedb/schema/full_queues.h"
#include "tracedb/schema/waiting_calls.h"

namespace tracedb {
namespace {

struct StreamOfTrack {
  uint32_t number = 0;
  int64_t base_ns = 0;
};

constexpr const char* kTables =
    "CREATE TEMP TABLE IF NOT EXISTS part_use (trace_id INTEGER, id INTEGER, computing_ns INTEGER, "
    "idle_ns INTEGER);"
    "CREATE TEMP TABLE IF NOT EXISTS step_last (trace_id INTEGER, device, step INTEGER, "
    "activities INTEGER, begin_ns INTEGER, start_ns INTEGER, end_ns INTEGER, busy_ns INTEGER);"
    "CREATE TEMP TABLE IF NOT EXISTS wait_name (id INTEGER PRIMARY KEY);"
    "CREATE TEMP TABLE IF NOT EXISTS full_queue (id INTEGER PRIMARY KEY, trace_id INTEGER);"
    "CREATE TEMP TABLE IF NOT EXISTS long_call (id INTEGER PRIMARY KEY, end_ns INTEGER);"
    "DELETE FROM temp.full_queue; DELETE FROM temp.long_call;"
    "DELETE FROM temp.part_use; DELETE FROM temp.step_last; DELETE FROM temp.wait_name";

// Of each part how long after its start, and at most until its end, the last work ran that was
// computed or copied and began before its end; and how long after its end such work began (NULL:
// never).
// Stretches follow each other, so what ran in a part is in one of the last two that began before
// its end. After it 64 are looked at: so many that have communication alone are a long time.
constexpr const char* kPartUses =
    "INSERT INTO temp.part_use "
    "SELECT ?1, id, min(max(ifnull(last_ns - start_ns, 0), 0), end_ns - start_ns), "
    "  CASE WHEN last_ns > end_ns THEN 0 ELSE next_ns - end_ns END "
    " FROM (SELECT p.id, p.ts_ns AS start_ns, p.ts_ns + p.dur_ns AS end_ns, "
    "    (SELECT max(b.ts_ns + b.dur_ns) FROM (SELECT w.ts_ns, w.dur_ns, w.kinds "
    "       FROM _busy_segment w WHERE w.trace_id = ?1 AND w.device = t.device "
    "       AND w.ts_ns < p.ts_ns + p.dur_ns ORDER BY w.ts_ns DESC LIMIT 2) b "
    "     WHERE b.kinds & 5) AS last_ns, "
    "    (SELECT min(b.ts_ns) FROM (SELECT w.ts_ns, w.kinds "
    "       FROM _busy_segment w WHERE w.trace_id = ?1 AND w.device = t.device "
    "       AND w.ts_ns >= p.ts_ns + p.dur_ns ORDER BY w.ts_ns LIMIT 64) b "
    "     WHERE b.kinds & 5) AS next_ns "
    "  FROM _collective_part p JOIN _gpu_slice s ON s.id = p.id JOIN _track t ON t.id = s.track "
    "  WHERE p.id BETWEEN ?2 AND ?3 AND p.dur_ns >= 0) ORDER BY id";

// Of each GPU and step what was launched in it, and for how long the GPU was busy from the step's
// start to the first of these.
constexpr const char* kStepLasts =
    "INSERT INTO temp.step_last SELECT l.*, iif(p.ts_ns IS NULL, NULL, ifnull("
    "   (SELECT sum(min(b.ts_ns + b.dur_ns, l.start_ns) - max(b.ts_ns, p.ts_ns)) "
    "    FROM _busy_segment b WHERE b.trace_id = ?1 AND b.device = l.device "
    "    AND b.ts_ns < l.start_ns AND b.ts_ns + b.dur_ns > p.ts_ns AND b.ts_ns >= ifnull("
    "      (SELECT max(e.ts_ns) FROM _busy_segment e WHERE e.trace_id = ?1 "
    "       AND e.device = l.device AND e.ts_ns <= p.ts_ns), p.ts_ns)), 0)) AS busy_ns "
    " FROM (SELECT t.trace_id, t.device, a.step, sum(a.activities) AS activities, "
    "         min(min(a.ts + t.base_ns, ifnull(a.launch_ts_ns, a.ts + t.base_ns))) AS begin_ns, "
    "         min(a.ts + t.base_ns) AS start_ns, max(a.end_ts + t.base_ns) AS end_ns "
    "       FROM (SELECT s.track, k.step, count(*) AS activities, min(s.ts) AS ts, "
    "               max(s.ts + ifnull(s.dur, 0)) AS end_ts, min(k.launch_ts_ns) AS launch_ts_ns "
    "             FROM _gpu_slice s LEFT JOIN _launch k ON k.id = s.id "
    "             WHERE s.id BETWEEN ?2 AND ?3 AND ifnull(s.dur, 0) >= 0 "
    "             AND s.id NOT IN (SELECT id FROM _impossible_time) "
    "             GROUP BY k.step, s.track) a "  // rows nearly are in this order
    "       JOIN _track t ON t.id = a.track GROUP BY t.trace_id, t.device, a.step) l "
    " LEFT JOIN (SELECT s.step, min(s.ts + t.base_ns) AS ts_ns FROM _step s "
    "   JOIN _track t ON t.id = s.track WHERE s.id BETWEEN ?2 AND ?3 AND s.dur >= 0 "
    "   GROUP BY s.step HAVING count(*) = 1) p ON p.step = l.step";

Status FindWaitNames(SqliteDb& db, int64_t trace_id) {
  TRACEDB_ASSIGN(names, db.Prepare("SELECT n.id, n.name FROM _trace t JOIN _event_name n "
                                   "ON n.id BETWEEN t.first_text AND t.last_text "
                                   "WHERE t.trace_id = ?1"));
  TRACEDB_TRY(names.Bind(1, trace_id));
  TRACEDB_ASSIGN(row, db.Prepare("INSERT OR IGNORE INTO temp.wait_name VALUES (?1)"));
  for (;;) {
    TRACEDB_ASSIGN(any, names.Step());
    if (!any) return Done{};
    if (!WaitsForGpu(names.Text(1))) continue;
    TRACEDB_TRY(row.Bind(1, names.Int(0)));
    TRACEDB_TRY(row.Run());
  }
}

// Calls that are long and no waits by their names: only such a wait counts where summaries are
// replayed.
std::string LongCallsSql() {
  return "INSERT INTO temp.long_call SELECT r.id, r.ts + r.dur + t.base_ns FROM _track t "
         "CROSS JOIN _runtime_slice r INDEXED BY _runtime_slice_long ON r.track = t.id "
         "WHERE t.trace_id = ?1 AND r.dur >= " +
         std::to_string(kLongSliceNs) +
         " AND r.event_name NOT IN "
         "  (SELECT id FROM temp.wait_name) AND r.id NOT IN (SELECT id FROM _impossible_time)";
}

// Of each launching call when it starts, its end if it is long, and when what it launched was done.
constexpr const char* kLaunches =
    "SELECT k.launch_slice_id, k.launch_ts_ns, ifnull(l.end_ns, k.launch_ts_ns), g.ts + g.dur, "
    "  g.track FROM _launch k CROSS JOIN _gpu_slice g ON g.id = k.id "
    "LEFT JOIN temp.long_call l ON l.id = k.launch_slice_id "
    "WHERE k.id BETWEEN ?1 AND ?2 AND k.launch_slice_id IS NOT NULL AND g.dur >= 0 "
    "  AND k.id NOT IN (SELECT id FROM _impossible_time) "
    "ORDER BY k.launch_ts_ns, k.launch_slice_id, k.id";

struct TraceRows {
  int64_t trace_id;
  int64_t first;
  int64_t last;
};

// Whether any of the long calls launches something.
Result<bool> FindLongCalls(SqliteDb& db, const TraceRows& trace) {
  TRACEDB_ASSIGN(calls, db.Prepare(LongCallsSql()));
  TRACEDB_TRY(calls.Bind(1, trace.trace_id));
  TRACEDB_TRY(calls.Run());
  TRACEDB_ASSIGN(launches, db.Prepare("SELECT EXISTS (SELECT 1 FROM _launch WHERE id BETWEEN ?1 "
                                      "AND ?2 AND launch_slice_id IN (SELECT id FROM "
                                      "temp.long_call))"));
  TRACEDB_TRY(launches.Bind(1, trace.first));
  TRACEDB_TRY(launches.Bind(2, trace.last));
  TRACEDB_ASSIGN(any, launches.Step());
  return any && launches.Int(0) != 0;
}

// A number for each stream, by the track: tracks of several threads may be one stream. Only of the
// GPU's: a trace may have very many threads.
Result<std::unordered_map<int64_t, StreamOfTrack>> StreamsOf(SqliteDb& db, int64_t trace_id) {
  TRACEDB_ASSIGN(rows, db.Prepare("SELECT id, dense_rank() OVER (ORDER BY device, stream), base_ns "
                                  "FROM _track t WHERE trace_id = ?1 AND EXISTS "
                                  "(SELECT 1 FROM _gpu_slice g WHERE g.track = t.id)"));
  TRACEDB_TRY(rows.Bind(1, trace_id));
  std::unordered_map<int64_t, StreamOfTrack> streams;
  for (;;) {
    TRACEDB_ASSIGN(any, rows.Step());
    if (!any) return streams;
    streams[rows.Int(0)] = {static_cast<uint32_t>(rows.Int(1)), rows.Int(2)};
  }
}

Status AddFullQueues(SqliteDb& db, const TraceRows& trace) {
  TRACEDB_ASSIGN(any_long, FindLongCalls(db, trace));
  if (!any_long) return Done{};
  TRACEDB_ASSIGN(streams, StreamsOf(db, trace.trace_id));
  TRACEDB_ASSIGN(row, db.Prepare("INSERT INTO temp.full_queue VALUES (?1, ?2)"));
  FullQueues queues;
  std::optional<LaunchingCall> call;
  const auto add = [&]() -> Status {
    if (!call.has_value() || !queues.Add(*call).has_value()) return Done{};
    TRACEDB_TRY(row.Bind(1, call->slice_id));
    TRACEDB_TRY(row.Bind(2, trace.trace_id));
    return row.Run();
  };
  TRACEDB_ASSIGN(rows, db.Prepare(kLaunches));
  TRACEDB_TRY(rows.Bind(1, trace.first));
  TRACEDB_TRY(rows.Bind(2, trace.last));
  for (;;) {
    TRACEDB_ASSIGN(any, rows.Step());
    if (!any) return add();
    // Of several that one call launched the last counts.
    if (call.has_value() && call->slice_id != rows.Int(0)) TRACEDB_TRY(add());
    const StreamOfTrack stream = streams[rows.Int(4)];
    call =
        LaunchingCall{rows.Int(0),   rows.Int(1), rows.Int(2), SumNs(rows.Int(3), stream.base_ns),
                      stream.number, false};
  }
}

}  // namespace

Status ClearWorkedOutTables(SqliteDb& db) {
  TRACEDB_TRY(db.Execute(kTables));
  return ClearBusyOutlines(db);
}

Status WorkOutTables(SqliteDb& db, int64_t trace_id, int64_t first_row, int64_t last_row) {
  for (const char* sql : {kPartUses, kStepLasts}) {
    TRACEDB_ASSIGN(fill, db.Prepare(sql));
    TRACEDB_TRY(fill.Bind(1, trace_id));
    TRACEDB_TRY(fill.Bind(2, first_row));
    TRACEDB_TRY(fill.Bind(3, last_row));
    TRACEDB_TRY(fill.Run());
  }
  TRACEDB_TRY(FindWaitNames(db, trace_id));
  TRACEDB_TRY(AddFullQueues(db, {trace_id, first_row, last_row}));
  return MakeBusyOutline(db, trace_id, first_row, last_row);
}

}  // namespace tracedb
