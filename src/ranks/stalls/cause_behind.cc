#include "ranks/stalls/cause_behind.h"

#include <algorithm>
#include <utility>

#include "ranks/stalls/cause_earliest.h"
#include "ranks/stalls/cause_host.h"
#include "ranks/stalls/stall.h"
#include "tracedb/base/interval.h"

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
    "FROM temp.behind b;"
    "CREATE TEMP TABLE behind_netted (id INTEGER, look INTEGER, PRIMARY KEY (id, look)) "
    "WITHOUT ROWID";

constexpr const char* kLongerSql =
    "SELECT l.id, l.look, s.trace_id, s.step, s.first_start_ns, s.start_ns, s.together_ns "
    "FROM (SELECT id, look FROM temp.behind_longer GROUP BY id, look "
    "  HAVING 2 * max(sum(iif(part = 0, longer_ns, 0)), "
    "                 sum(iif(part > 0, longer_ns, 0))) >= late_ns) l "
    "JOIN temp.stall s ON s.id = l.id ORDER BY l.id, l.look";

// The others of the stall's collective first to last by rank, and itself.
constexpr const char* kPartsSql =
    "SELECT p.id = o.id, p.trace_id, p.ts_ns, l.launch_slice_id, l.launch_ts_ns "
    "FROM _collective_part o JOIN _collective_part p ON p.capture_id = o.capture_id "
    "  AND p.group_id = o.group_id AND p.pair = o.pair AND p.by_seq = o.by_seq "
    "  AND p.match_no = o.match_no "
    "JOIN _launch l ON l.id = p.id WHERE o.id = ?1 AND l.launch_ts_ns IS NOT NULL "
    "ORDER BY p.id <> o.id, p.rank, p.id LIMIT ?2";

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
    "            FROM temp.behind_longer JOIN temp.behind_netted USING (id, look) "
    "            GROUP BY id, look) l "
    "      LEFT JOIN temp.behind_longer w ON w.id = l.id AND w.look = l.look AND w.part > 0) "
    "  WHERE place = 1) j WHERE j.id = found.id;"
    "DROP TABLE temp.behind; DROP TABLE temp.called; DROP TABLE temp.behind_longer; "
    "DROP TABLE temp.behind_netted";

constexpr const char* kKeepSql = "INSERT INTO temp.behind_netted VALUES (?1, ?2)";

constexpr const char* kUnnamedSql =
    "SELECT p.id, p.look, s.trace_id, s.step, s.first_start_ns, s.start_ns, s.together_ns "
    "FROM temp.behind_part p JOIN temp.found f ON f.id = p.id JOIN temp.stall s ON s.id = p.id "
    "WHERE p.part = 0 AND p.event_name IS NULL AND f.cause IS NULL AND f.upstream_id IS NULL "
    "  AND f.carried_id IS NULL ORDER BY p.id, p.look";
constexpr const char* kUnnamedHostSql =
    "UPDATE temp.found SET cause = 'host', cause_slice_id = NULL, cause_name = (SELECT text "
    "  FROM temp.behind_part WHERE id = ?1 AND look = ?2 AND part = 0) "
    "WHERE id = ?1 AND cause IS NULL";

// The own one, and 16 others: more say no more of what a host has to do on average.
constexpr int64_t kPartsMax = 17;

// What the host of a rank that came last had to do, and those of the others.
class NetOfHosts {
 public:
  static Result<NetOfHosts> Open(SqliteDb& db, const RankClocks& clocks) {
    TRACEDB_ASSIGN(host, HostWatch::Open(db));
    TRACEDB_ASSIGN(earliest, EarliestStart::Open(db, clocks));
    TRACEDB_ASSIGN(parts, db.Prepare(kPartsSql));
    return NetOfHosts(clocks, std::move(host), std::move(earliest), std::move(parts));
  }

  // Whether that was more by half of the wait. Where nobody knows: what was recorded is, all is
  // not.
  Result<bool> IsLonger(const Stall& stall, int64_t look, HostWatch::Work work) {
    const bool is_recorded = work == HostWatch::Work::kRecorded;
    const int64_t late_ns = DifferenceNs(stall.start_ns, stall.first_ns);
    if (late_ns < kLeastLateNs) return is_recorded;
    TRACEDB_TRY(parts_.Bind(1, stall.id));
    TRACEDB_TRY(parts_.Bind(2, kPartsMax));
    int64_t own_ns = 0, others_ns = 0, others = 0;
    bool is_own_known = false;
    for (;;) {
      TRACEDB_ASSIGN(any, parts_.Step());
      if (!any) break;
      const bool is_own = parts_.Int(0) != 0;
      Stall part = stall;
      part.trace_id = parts_.Int(1);
      TRACEDB_ASSIGN(since_ns,
                     look == 1 ? earliest_.Find(part) : earliest_.FindSinceStepBefore(part));
      const int64_t shift_ns = clocks_->ShiftNs(part.trace_id, parts_.Int(2));
      const Interval range{DifferenceNs(since_ns, shift_ns), parts_.Int(4)};
      const auto of = is_own || !is_recorded ? work : HostWatch::Work::kWithoutLaunches;
      TRACEDB_ASSIGN(work_ns, host_.WorkNs(parts_.Int(3), range, of));
      is_own_known = is_own_known || is_own;
      (is_own ? own_ns : others_ns) = SumNs(is_own ? own_ns : others_ns, work_ns);
      others += is_own ? 0 : 1;
    }
    parts_.Reset();
    if (!is_own_known || others == 0) return is_recorded;
    return DifferenceNs(own_ns, others_ns / others) >= late_ns / 2 + late_ns % 2;
  }

 private:
  // Of shorter waits half is no more than a slice that is too short to be looked at.
  static constexpr int64_t kLeastLateNs = 4 * kLongSliceNs;

  NetOfHosts(const RankClocks& clocks, HostWatch host, EarliestStart earliest,
             SqliteStatement parts)
      : clocks_(&clocks),
        host_(std::move(host)),
        earliest_(std::move(earliest)),
        parts_(std::move(parts)) {}

  const RankClocks* clocks_;
  HostWatch host_;
  EarliestStart earliest_;
  SqliteStatement parts_;
};

// Keeps of these stalls, with their looks, those whose hosts took longer.
Status KeepLonger(SqliteDb& db, const RankClocks& clocks, const char* stalls, HostWatch::Work work,
                  const char* keep_sql) {
  TRACEDB_ASSIGN(net, NetOfHosts::Open(db, clocks));
  TRACEDB_ASSIGN(longer, db.Prepare(stalls));
  TRACEDB_ASSIGN(keep, db.Prepare(keep_sql));
  for (;;) {
    TRACEDB_ASSIGN(any, longer.Step());
    if (!any) return Done{};
    Stall stall;
    stall.id = longer.Int(0);
    stall.trace_id = longer.Int(2);
    stall.step = longer.OptionalInt(3);
    stall.first_ns = longer.Int(4);
    stall.start_ns = longer.Int(5);
    stall.together_ns = longer.Int(6);
    TRACEDB_ASSIGN(is_longer, net.IsLonger(stall, longer.Int(1), work));
    if (!is_longer) continue;
    TRACEDB_TRY(keep.Bind(1, stall.id));
    TRACEDB_TRY(keep.Bind(2, longer.Int(1)));
    TRACEDB_TRY(keep.Run());
  }
}

}  // namespace

Status JudgeBehind(SqliteDb& db, const RankClocks& clocks) {
  TRACEDB_ASSIGN(any, db.Integer(kAnySql));
  if (any == 0) return Done{};
  TRACEDB_TRY(db.Execute(kTablesSql));
  TRACEDB_TRY(KeepLonger(db, clocks, kLongerSql, HostWatch::Work::kRecorded, kKeepSql));
  return db.Execute(kJudgeSql);
}

Status JudgeUnnamed(SqliteDb& db, const RankClocks& clocks) {
  return KeepLonger(db, clocks, kUnnamedSql, HostWatch::Work::kAll, kUnnamedHostSql);
}

}  // namespace tracedb
