// Fills collective_cause. Five passes: who was late for what (cause_arrivals), what held each of
// them (cause_finder, cause_carried), whether its host had made it late before (cause_behind),
// whether its device took longer than those of the others (cause_peers), and where it came from
// (cause_chains).

#include "tracedb/ranks/stalls/stall_causes.h"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "ranks/stalls/cause_arrivals.h"
#include "ranks/stalls/cause_behind.h"
#include "ranks/stalls/cause_carried.h"
#include "ranks/stalls/cause_chains.h"
#include "ranks/stalls/cause_finder.h"
#include "ranks/stalls/cause_peers.h"
#include "ranks/stalls/cause_threads.h"
#include "tracedb/base/sqlite_db.h"
#include "tracedb/schema/rank_clock.h"

namespace tracedb {
namespace {

constexpr size_t kBatchStalls = 1024;

// As stored; of the device's two the name says which.
std::string_view KindText(CauseKind kind) {
  switch (kind) {
    case CauseKind::kHost:
      return "host";
    case CauseKind::kDeviceWork:
    case CauseKind::kDeviceIdle:
      return "device";
    case CauseKind::kUpstream:
      return "upstream";
    case CauseKind::kNone:
      break;
  }
  return "";
}

// Groups in which something is not as it was: all that holds their ranks may have changed.
constexpr const char* kChangedGroupsSql =
    "SELECT s.group_id FROM temp.stall s LEFT JOIN _collective_cause c ON c.id = s.id "
    "  WHERE c.first_start_ns IS NOT s.first_start_ns OR c.start_ns IS NOT s.start_ns "
    "    OR c.wait_ns IS NOT s.wait_ns OR c.group_id IS NOT s.group_id "
    "  UNION SELECT group_id FROM _collective_cause WHERE id NOT IN (SELECT id FROM temp.stall)";

constexpr const char* kTablesSql =
    "CREATE TEMP TABLE dirty (trace_id INTEGER PRIMARY KEY);"
    "CREATE TEMP TABLE found (id INTEGER PRIMARY KEY, cause TEXT, cause_slice_id INTEGER, "
    "  cause_name TEXT, upstream_id INTEGER, carried_id INTEGER, near_ns INTEGER, near_count "
    "  INTEGER, named_ns INTEGER, named_count INTEGER, idle_ns INTEGER);"
    "CREATE TEMP TABLE behind_part (id INTEGER, look INTEGER, part INTEGER, slice_id INTEGER, "
    "  event_name INTEGER, ns INTEGER, slices INTEGER, text TEXT)";

std::string DirtySql(bool everything) {
  return "INSERT OR IGNORE INTO temp.dirty SELECT t.trace_id FROM _process_group g, "
         "json_each(g.ranks) j JOIN _trace t ON t.run_id = g.run_id "
         "  AND t.rank = CAST(j.value AS INTEGER) WHERE g.group_id IN (" +
         std::string(everything ? "SELECT group_id FROM temp.stall" : kChangedGroupsSql) + ")";
}

constexpr const char* kDeleteSql =
    "DELETE FROM _collective_cause WHERE trace_id IN (SELECT trace_id FROM temp.dirty) "
    "  OR id NOT IN (SELECT id FROM temp.stall)";

constexpr const char* kInsertSql =
    "INSERT INTO _collective_cause (id, trace_id, rank, group_id, step, first_start_ns, start_ns, "
    "  wait_ns, cause, cause_slice_id, cause_name, upstream_id, carried_id) "
    "SELECT f.id, s.trace_id, s.rank, s.group_id, s.step, s.first_start_ns, s.start_ns, "
    "  s.wait_ns, f.cause, f.cause_slice_id, f.cause_name, f.upstream_id, f.carried_id "
    "FROM temp.found f CROSS JOIN temp.stall s ON s.id = f.id ORDER BY f.id;"
    "DROP TABLE temp.found; DROP TABLE temp.behind_part; DROP TABLE temp.dirty";

constexpr const char* kKeepSql =
    "INSERT INTO temp.found VALUES (?1, ?2, ?3, CASE "
    "  WHEN ?2 = 'upstream' THEN coalesce((SELECT p.collective || coalesce(' of ' || "
    "      coalesce(nullif(g.description, ''), nullif(g.name, '')), '') FROM _collective_part p "
    "    LEFT JOIN _process_group g ON g.group_id = p.group_id WHERE p.id = ?3), '') "
    "    || iif(?6 IS NULL, ': ranks missing', '') "
    "  WHEN ?4 IS NOT NULL THEN coalesce((SELECT name FROM _event_name WHERE id = ?4), '') "
    "  ELSE ?5 END, ?6, ?7, ?8, ?9, ?10, ?11, ?12)";
constexpr const char* kKeepPartSql =
    "INSERT INTO temp.behind_part VALUES (?1, ?2, ?3, nullif(?4, 0), nullif(?5, 0), ?6, ?7, ?8)";

// Part 0 is the longest slice, as long as it was.
Status KeepBefore(SqliteStatement& insert, int64_t stall_id, int64_t look,
                  const HostBefore& before) {
  std::vector<HostPart> parts = {{before.event_name, before.whole_ns, 1, before.slice_id}};
  parts.insert(parts.end(), before.parts.begin(), before.parts.end());
  for (size_t i = 0; i < parts.size(); ++i) {
    int at = 0;
    for (const int64_t value : {stall_id, look, static_cast<int64_t>(i), parts[i].slice_id,
                                parts[i].event_name, parts[i].own_ns, parts[i].slices}) {
      TRACEDB_TRY(insert.Bind(++at, value));
    }
    TRACEDB_TRY(insert.BindTextOrNull(++at, before.text));
    TRACEDB_TRY(insert.Run());
  }
  return Done{};
}

Status KeepCause(SqliteStatement& insert, SqliteStatement& insert_part, int64_t stall_id,
                 const Cause& cause) {
  const auto bind_id = [&insert](int at, int64_t id) {
    return id != 0 ? insert.Bind(at, id) : insert.BindNull(at);
  };
  TRACEDB_TRY(insert.Bind(1, stall_id));
  TRACEDB_TRY(insert.BindTextOrNull(2, KindText(cause.kind)));
  TRACEDB_TRY(bind_id(3, cause.slice_id));
  TRACEDB_TRY(bind_id(4, cause.event_name));
  TRACEDB_TRY(insert.BindTextOrNull(5, cause.text));
  TRACEDB_TRY(bind_id(6, cause.upstream_id));
  TRACEDB_TRY(bind_id(7, cause.carried_id));
  int at = 7;
  for (const int64_t value :
       {cause.near.ns, cause.near.count, cause.named.ns, cause.named.count, cause.idle_ns}) {
    TRACEDB_TRY(insert.Bind(++at, value));
  }
  TRACEDB_TRY(insert.Run());
  if (cause.in_step.is_known()) {
    TRACEDB_TRY(KeepBefore(insert_part, stall_id, 1, cause.in_step));
  }
  if (!cause.since_step_before.is_known()) return Done{};
  return KeepBefore(insert_part, stall_id, 2, cause.since_step_before);
}

Stall StallOf(const SqliteStatement& row) {
  Stall stall;
  stall.id = row.Int(0);
  stall.trace_id = row.Int(1);
  stall.step = row.OptionalInt(2);
  stall.first_ns = row.Int(3);
  stall.start_ns = row.Int(4);
  stall.together_ns = row.Int(5);
  stall.range = {DifferenceNs(row.Int(6), DifferenceNs(stall.start_ns, stall.first_ns)),
                 row.Int(6)};
  return stall;
}

// Causes are kept aside until all are found: other connections read meanwhile.
Status FindCauses(SqliteDb& db, const RankClocks& clocks, const ExplainOptions& options) {
  TRACEDB_TRY(db.Execute(kTablesSql));
  const bool everything = options.scope == ExplainScope::kEverything;
  TRACEDB_TRY(db.Execute(DirtySql(everything)));
  TRACEDB_ASSIGN(count, db.Integer("SELECT count(*) FROM temp.stall WHERE trace_id IN (SELECT "
                                   "trace_id FROM temp.dirty)"));
  const auto threads = static_cast<unsigned>(
      std::clamp<int64_t>(count / options.stalls_each, 1, std::max(1u, options.threads)));
  {
    TRACEDB_ASSIGN(stalls,
                   db.Prepare("SELECT s.id, s.trace_id, s.step, s.first_start_ns, s.start_ns, "
                              "s.together_ns, p.ts_ns FROM temp.stall s "
                              "JOIN _collective_part p ON p.id = s.id "
                              "WHERE s.trace_id IN (SELECT trace_id FROM temp.dirty) "
                              "ORDER BY s.id"));
    TRACEDB_ASSIGN(carried, CarriedFinder::Open(db, clocks));
    TRACEDB_ASSIGN(insert, db.Prepare(kKeepSql));
    TRACEDB_ASSIGN(insert_part, db.Prepare(kKeepPartSql));
    bool any_left = true;
    const auto next = [&]() -> Result<StallBatch> {
      StallBatch batch;
      while (any_left && batch.size() < kBatchStalls) {
        TRACEDB_ASSIGN(row, stalls.Step());
        any_left = row;
        if (row) batch.push_back({StallOf(stalls), {}});
      }
      return batch;
    };
    const auto take = [&](StallBatch& batch) -> Status {
      for (StallCause& each : batch) {
        TRACEDB_TRY(carried.Find(each.stall, each.cause));
        TRACEDB_TRY(KeepCause(insert, insert_part, each.stall.id, each.cause));
      }
      return Done{};
    };
    TRACEDB_TRY(FindCausesOf(db, clocks, {threads, options.stop}, next, take));
  }
  TRACEDB_TRY(JudgeBehind(db, clocks));
  TRACEDB_TRY(JudgePeers(db, clocks));
  TRACEDB_TRY(JudgeUnnamed(db, clocks));
  TRACEDB_TRY(db.Execute(everything ? "DELETE FROM _collective_cause" : kDeleteSql));
  return db.Execute(kInsertSql);
}

constexpr const char* kUnexplainedSql =
    "SELECT EXISTS (SELECT trace_id, capture_id FROM _trace EXCEPT SELECT trace_id, capture_id "
    "FROM _explained_trace) "
    "OR EXISTS (SELECT trace_id, capture_id FROM _explained_trace EXCEPT SELECT trace_id, "
    "capture_id FROM _trace)";

// With one rank alone nobody waits for anybody, and nothing need be written.
constexpr const char* kTogetherSql =
    "SELECT (SELECT count(*) FROM (SELECT DISTINCT rank FROM _trace LIMIT 2)) > 1 "
    "OR EXISTS (SELECT 1 FROM _collective_cause) OR EXISTS (SELECT 1 FROM _explained_trace)";

}  // namespace

Status ExplainStalls(SqliteDb& db, const ExplainOptions& options) {
  TRACEDB_ASSIGN(unexplained, db.Integer(kUnexplainedSql));
  TRACEDB_ASSIGN(together, db.Integer(kTogetherSql));
  if (together == 0 || (unexplained == 0 && options.scope == ExplainScope::kNewTraces))
    return Done{};
  TRACEDB_TRY(db.Execute("PRAGMA secure_delete = OFF; BEGIN IMMEDIATE"));
  TRACEDB_ASSIGN(clocks, RankClocks::Read(db));
  TRACEDB_TRY(CompareArrivals(db, clocks));
  if (options.before_causes) TRACEDB_TRY(options.before_causes(db));
  TRACEDB_TRY(FindCauses(db, clocks, options));
  TRACEDB_TRY(FollowChains(db));
  TRACEDB_TRY(
      db.Execute("DELETE FROM _explained_trace;"
                 "INSERT INTO _explained_trace (trace_id, capture_id) SELECT trace_id, capture_id "
                 "FROM _trace"));
  return db.Execute("COMMIT");
}

}  // namespace tracedb
