#include "ranks/stalls/cause_peers.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

#include "ranks/stalls/cause_earliest.h"
#include "ranks/stalls/peer_excess.h"
#include "ranks/stalls/stall.h"
#include "ranks/stalls/taken_before.h"
#include "tracedb/schema/event_tables.h"

namespace tracedb {
namespace {

// What a stage alone runs counts from this part of its work on.
constexpr int64_t kAloneParts = 10;

// Stages are ranks that send each other messages, or are in a group for pipeline parallelism.
constexpr const char* kStagesSql =
    "CREATE TEMP TABLE stage (run_id INTEGER, rank INTEGER, other INTEGER, "
    "  PRIMARY KEY (run_id, rank, other)) WITHOUT ROWID;"
    "INSERT OR IGNORE INTO temp.stage SELECT t.run_id, p.rank, p.peer FROM _collective_part p "
    "  JOIN _trace t ON t.trace_id = p.trace_id WHERE p.pair <> '' AND p.peer <> p.rank;"
    "INSERT OR IGNORE INTO temp.stage SELECT g.run_id, a.value, b.value FROM _process_group g, "
    "  json_each(g.ranks) a, json_each(g.ranks) b "
    "  WHERE g.parallelism = 'pipeline' AND a.value <> b.value";

constexpr const char* kAnySql =
    "SELECT EXISTS (SELECT 1 FROM temp.found "
    "  WHERE cause = 'device' AND cause_slice_id IS NOT NULL AND carried_id IS NULL)";

// With the kernels that were found, their names and how long they take on all ranks: each trace has
// names of its own, compared by their texts.
constexpr const char* kJudgedSql =
    "CREATE TEMP TABLE judged AS SELECT f.id, t.capture_id, s.trace_id, s.group_id, s.rank, "
    "  s.step, s.first_start_ns, s.start_ns, s.together_ns, f.idle_ns, f.near_ns, f.near_count, "
    "  f.named_ns, f.named_count, f.cause_name AS name, ifnull(g.kind, 0) = 1 AS communicates, "
    "  (s.group_id, s.rank) IN (SELECT g.group_id, o.rank FROM _process_group g, "
    "    json_each(g.ranks) r JOIN temp.stage o ON o.run_id = g.run_id AND o.other = r.value) "
    "    AS is_stage "
    "FROM temp.found f JOIN temp.stall s ON s.id = f.id JOIN _trace t ON t.trace_id = s.trace_id "
    "LEFT JOIN _gpu_slice g ON g.id = f.cause_slice_id "
    "WHERE f.cause = 'device' AND f.cause_slice_id IS NOT NULL AND f.carried_id IS NULL;"
    "CREATE TEMP TABLE run AS SELECT t.capture_id, u.step, n.name, t.rank, sum(u.gpu_ns) AS ns, "
    "  sum(u.activities) AS calls FROM _kernel_use u JOIN _trace t ON t.trace_id = u.trace_id "
    "JOIN _event_name n ON n.id = u.kernel WHERE n.name IN (SELECT name FROM temp.judged) "
    "GROUP BY 1, 2, 3, 4;"
    "CREATE INDEX temp.run_by_rank ON run (capture_id, step, name, rank);"
    "CREATE TEMP TABLE member (group_id INTEGER, rank INTEGER, PRIMARY KEY (group_id, rank)) "
    "WITHOUT ROWID;"
    "INSERT OR IGNORE INTO temp.member SELECT g.group_id, r.value FROM _process_group g, "
    "  json_each(g.ranks) r WHERE g.group_id IN (SELECT group_id FROM temp.judged)";

constexpr const char* kKeysSql =
    "CREATE TEMP TABLE peer_left (id INTEGER PRIMARY KEY);"
    "CREATE TEMP TABLE peer_key (capture_id INTEGER, step INTEGER, group_id INTEGER, "
    "  rank INTEGER, PRIMARY KEY (capture_id, step, group_id, rank)) WITHOUT ROWID;"
    "INSERT OR IGNORE INTO temp.peer_key SELECT capture_id, ifnull(step, -1), group_id, rank "
    "  FROM temp.judged;"
    "INSERT OR IGNORE INTO temp.peer_key SELECT capture_id, step - 1, group_id, rank "
    "  FROM temp.judged WHERE step > 0 AND NOT is_stage";

// Communication kernels wait for others: how long they take tells nothing of their rank.
constexpr const char* kKernelsSql =
    "SELECT t.capture_id, k.step, k.kernel AS event_name, t.rank, k.gpu_ns AS ns "
    "FROM _kernel_use k JOIN _trace t ON t.trace_id = k.trace_id "
    "JOIN _event_name n ON n.id = k.kernel WHERE n.kind IS NOT 1";

// Of operators those that are long enough on a rank that is left to explain anything. A rank that
// has the step and none of them took no time for them.
constexpr const char* kOperatorsSql =
    "SELECT t.capture_id, h.step, h.event_name, t.rank, h.total_ns AS ns "
    "FROM _host_use h JOIN _trace t ON t.trace_id = h.trace_id WHERE h.kind = 0 "
    "  AND h.event_name IN (SELECT id FROM temp.peer_wanted) "
    "UNION ALL SELECT t.capture_id, s.step, (SELECT min(id) FROM temp.peer_wanted), t.rank, 0 "
    "FROM _step s JOIN _track k ON k.id = s.track JOIN _trace t ON t.trace_id = k.trace_id "
    "WHERE EXISTS (SELECT 1 FROM temp.peer_wanted)";

constexpr const char* kWantedSql =
    "CREATE TEMP TABLE peer_wanted (id INTEGER PRIMARY KEY);"
    "INSERT INTO temp.peer_wanted SELECT id FROM _event_name WHERE name IN (SELECT n.name "
    "  FROM (SELECT h.event_name FROM _host_use h CROSS JOIN _trace t ON t.trace_id = h.trace_id "
    "    CROSS JOIN (SELECT capture_id, rank, step, min(late_ns) AS late_ns FROM temp.held "
    "      GROUP BY 1, 2, 3) k ON k.capture_id = t.capture_id AND k.rank = t.rank "
    "      AND k.step = h.step WHERE h.kind = 0 GROUP BY h.trace_id, h.step, h.event_name "
    "    HAVING 2 * sum(h.total_ns) >= k.late_ns) w JOIN _event_name n ON n.id = w.event_name)";

// By how much the kernel that was found took longer than on the group's other ranks. Of a stage: in
// the step, than on the middle one of those that run it (of two the one with less time). Else: in
// the stretch, or since the ranks were last together, than so many take there on average.
constexpr const char* kRowsSql =
    "SELECT j.id, j.trace_id, j.step, j.first_start_ns, j.start_ns, j.together_ns, j.is_stage, "
    "  j.communicates, iif(j.is_stage, "
    "    ifnull((SELECT r.ns FROM temp.run r WHERE r.capture_id = j.capture_id "
    "      AND r.step IS j.step AND r.name = j.name AND r.rank = j.rank) - "
    "     ifnull((SELECT ns FROM (SELECT r.ns, row_number() OVER (ORDER BY r.ns) AS place, "
    "         count(*) OVER () AS ranks FROM temp.member m CROSS JOIN temp.run r "
    "         ON r.rank = m.rank WHERE m.group_id = j.group_id AND m.rank <> j.rank "
    "           AND r.capture_id = j.capture_id AND r.step IS j.step AND r.name = j.name) "
    "       WHERE place = (ranks + 1) / 2), 0), j.start_ns - j.first_start_ns), "
    "    (SELECT max(j.near_ns - j.near_count * m.ns, j.named_ns - j.named_count * m.ns) "
    "     FROM (SELECT ifnull(sum(r.ns) / sum(r.calls), 0) AS ns "
    "       FROM temp.member m CROSS JOIN temp.run r ON r.rank = m.rank "
    "       WHERE m.group_id = j.group_id AND m.rank <> j.rank "
    "         AND r.capture_id = j.capture_id AND r.step IS j.step AND r.name = j.name) m)) "
    "    AS named_ns, "
    "  e.total_ns, e.most_ns, e.most, e.alone_ns, e.alone, e.least_ns, e.least, "
    "  b.total_ns, b.most_ns, b.most, e.work_ns, p.ts_ns "
    "FROM temp.judged j JOIN _collective_part p ON p.id = j.id JOIN temp.peer_kernels e ON "
    "e.capture_id = j.capture_id "
    "  AND e.step = ifnull(j.step, -1) AND e.group_id = j.group_id AND e.rank = j.rank "
    "LEFT JOIN temp.peer_kernels b ON b.capture_id = j.capture_id AND b.step = j.step - 1 "
    "  AND b.group_id = j.group_id AND b.rank = j.rank ORDER BY j.id";

// The last one of that name on the same device before; as far back as a look at the device goes.
constexpr const char* kKernelSql =
    "SELECT (SELECT id FROM (SELECT id, event_name FROM _gpu_slice WHERE track = o.id "
    "    AND ts < p.ts_ns - o.base_ns ORDER BY ts DESC LIMIT 8192) WHERE event_name = ?2 LIMIT 1) "
    "  AS kernel_id "
    "FROM _collective_part p JOIN _gpu_slice g ON g.id = p.id JOIN _track t ON t.id = g.track "
    "JOIN _track o ON o.trace_id = t.trace_id AND o.device = t.device "
    "WHERE p.id = ?1 AND kernel_id IS NOT NULL ORDER BY kernel_id DESC LIMIT 1";

constexpr const char* kDeviceSql =
    "UPDATE temp.found SET cause_name = (SELECT name FROM _event_name WHERE id = ?2), "
    "  cause_slice_id = coalesce(?3, cause_slice_id) WHERE id = ?1";

constexpr const char* kWaitsSql =
    "SELECT l.own_id, l.id, l.amount_ns, p.rank FROM temp.late l "
    "JOIN _collective_part p ON p.id = l.id WHERE l.trace_id = ?1 AND l.start_ns > ?2 "
    "AND l.start_ns < ?3 AND l.own_id <> l.id ORDER BY l.start_ns, l.own_id";

constexpr const char* kUpstreamSql =
    "UPDATE temp.found SET cause = 'upstream', cause_slice_id = ?2, upstream_id = ?3, "
    "  cause_name = coalesce((SELECT p.collective || coalesce(' of ' || "
    "    coalesce(nullif(g.description, ''), nullif(g.name, '')), '') FROM _collective_part p "
    "  LEFT JOIN _process_group g ON g.group_id = p.group_id WHERE p.id = ?2), '') WHERE id = ?1";

constexpr const char* kBeforeSql =
    "SELECT own_id FROM temp.late WHERE trace_id = ?1 AND start_ns > ?2 AND start_ns < ?3 "
    "AND own_id = id AND 2 * amount_ns >= ?4 ORDER BY start_ns DESC, own_id LIMIT 1";

// Of those that nothing explains yet: whose device ran out of work for half of a wait that is long
// enough for slices of the host to be told apart.
std::string LeftSql() {
  return "CREATE TEMP TABLE held AS SELECT id, capture_id, step, group_id, rank, "
         "  start_ns - first_start_ns AS late_ns FROM temp.judged "
         "WHERE id IN (SELECT id FROM temp.peer_left) "
         "  AND 2 * idle_ns >= start_ns - first_start_ns AND start_ns - first_start_ns >= " +
         std::to_string(kLongSliceNs) +
         ";"
         "DELETE FROM temp.peer_key;"
         "INSERT OR IGNORE INTO temp.peer_key SELECT capture_id, step, group_id, rank "
         "  FROM temp.held";
}

constexpr const char* kHostSql =
    "UPDATE temp.found SET cause = iif(h.name IS NULL, NULL, 'host'), cause_slice_id = NULL, "
    "  cause_name = h.name FROM (SELECT l.id, n.name FROM temp.peer_left l "
    "    LEFT JOIN temp.held j ON j.id = l.id "
    "    LEFT JOIN temp.peer_operators e ON e.capture_id = j.capture_id AND e.step = j.step "
    "      AND e.group_id = j.group_id AND e.rank = j.rank AND 2 * e.most_ns >= j.late_ns "
    "    LEFT JOIN _event_name n ON n.id = e.most) h WHERE h.id = found.id";

// A row of kRowsSql.
struct Judged {
  explicit Judged(const SqliteStatement& row)
      : is_stage(row.Int(6) != 0),
        communicates(row.Int(7) != 0),
        named_ns(row.Int(8)),
        longer{row.Int(9), row.Int(10), row.Int(11)},
        alone_ns(std::min(row.Int(9), row.Int(12))),
        alone(row.Int(13)),
        least_ns(row.Int(14)),
        least(row.Int(15)),
        before_ns(std::max(row.Int(16), row.Int(17))),
        before(row.Int(18)),
        work_ns(row.Int(19)),
        own_start_ns(row.Int(20)) {
    stall.id = row.Int(0);
    stall.trace_id = row.Int(1);
    stall.step = row.OptionalInt(2);
    stall.first_ns = row.Int(3);
    stall.start_ns = row.Int(4);
    stall.together_ns = row.Int(5);
    late_ns = DifferenceNs(stall.start_ns, stall.first_ns);
  }

  bool Explains(int64_t longer_ns) const { return longer_ns >= late_ns / 2 + late_ns % 2; }

  Stall stall;
  int64_t late_ns = 0;
  bool is_stage, communicates;
  // What took longer, and the name of that (0: nothing).
  int64_t named_ns;
  LongerKernels longer;
  int64_t alone_ns, alone;
  int64_t least_ns, least;
  int64_t before_ns, before;  // in the step before
  int64_t work_ns;            // what it took for all
  int64_t own_start_ns;       // by the rank's own clock
};

class PeerJudge {
 public:
  static Result<PeerJudge> Open(SqliteDb& db, const RankClocks& clocks) {
    PeerJudge judge;
    const auto prepare = [&db](std::optional<SqliteStatement>& to, const char* sql) -> Status {
      TRACEDB_ASSIGN(statement, db.Prepare(sql));
      to.emplace(std::move(statement));
      return Done{};
    };
    TRACEDB_TRY(prepare(judge.kernel_, kKernelSql));
    TRACEDB_TRY(prepare(judge.device_, kDeviceSql));
    TRACEDB_TRY(prepare(judge.waits_, kWaitsSql));
    TRACEDB_TRY(prepare(judge.upstream_, kUpstreamSql));
    TRACEDB_TRY(prepare(judge.before_, kBeforeSql));
    TRACEDB_TRY(prepare(judge.carry_, "UPDATE temp.found SET carried_id = ?2 WHERE id = ?1"));
    TRACEDB_TRY(prepare(judge.schedule_, "UPDATE temp.found SET cause = 'schedule' WHERE id = ?1"));
    TRACEDB_TRY(prepare(judge.leave_, "INSERT INTO temp.peer_left VALUES (?1)"));
    TRACEDB_ASSIGN(earliest, EarliestStart::Open(db, clocks));
    judge.earliest_.emplace(std::move(earliest));
    TRACEDB_ASSIGN(taken, TakenBefore::Open(db));
    judge.taken_.emplace(std::move(taken));
    return judge;
  }

  Status Judge(const Judged& judged) {
    const Stall& stall = judged.stall;
    const bool is_clear = judged.is_stage || !judged.communicates;
    if (is_clear && judged.Explains(judged.named_ns)) return Done{};
    if (judged.is_stage) {
      // What it alone runs makes a stage slow where it runs no less of the rest. A loss or an
      // embedding is a small part of one: there is nothing to gain by moving layers.
      const bool is_much = judged.alone_ns >= judged.work_ns / kAloneParts;
      if (judged.alone != 0 && is_much && judged.Explains(judged.alone_ns)) {
        return Blame(stall, judged.alone);
      }
      return Change(*schedule_, stall.id);
    }
    TRACEDB_ASSIGN(is_most,
                   taken_->Explains(stall, judged.own_start_ns, judged.longer, *earliest_));
    if (is_most) return Blame(stall, judged.longer.event_name);
    if (!stall.step.has_value()) return Done{};
    TRACEDB_ASSIGN(explained, PutDownToEarlier(judged));
    if (explained || judged.communicates) return Done{};
    if (judged.least != 0 && judged.Explains(judged.least_ns)) return Blame(stall, judged.least);
    return Change(*leave_, stall.id);
  }

 private:
  PeerJudge() = default;

  static Status Change(SqliteStatement& change, int64_t id) {
    TRACEDB_TRY(change.Bind(1, id));
    return change.Run();
  }

  Status Blame(const Stall& stall, int64_t event_name) {
    const auto [at, is_new] =
        kernels_.try_emplace({stall.trace_id, stall.step.value_or(-1), event_name}, 0);
    if (is_new) {
      TRACEDB_TRY(kernel_->Bind(1, stall.id));
      TRACEDB_TRY(kernel_->Bind(2, event_name));
      TRACEDB_ASSIGN(any, kernel_->Step());
      if (any) at->second = kernel_->Int(0);
      kernel_->Reset();
    }
    TRACEDB_TRY(device_->Bind(2, event_name));
    TRACEDB_TRY(at->second != 0 ? device_->Bind(3, at->second) : device_->BindNull(3));
    return Change(*device_, stall.id);
  }

  Result<bool> PutDownToEarlier(const Judged& judged) {
    const Stall& stall = judged.stall;
    TRACEDB_ASSIGN(earliest_ns, earliest_->Find(stall));
    // The device may have been at work on the step before when its host began this one.
    const bool since_before = stall.together_ns < earliest_ns;
    if (since_before && judged.before != 0 && judged.Explains(judged.before_ns)) {
      TRACEDB_TRY(Blame(stall, judged.before));
      return true;
    }
    Stall before = stall;
    before.step = *stall.step - 1;
    TRACEDB_ASSIGN(before_ns, earliest_->Find(before));
    TRACEDB_ASSIGN(waited, PutDownToWaits(judged, before_ns));
    return waited ? Result<bool>(true) : Carry(judged);
  }

  // Many short waits make it as late as a long one: for the rank that it waited for most.
  Result<bool> PutDownToWaits(const Judged& judged, int64_t earliest_ns) {
    struct Waits {
      int64_t sum_ns = 0, longest_ns = 0;
      int64_t own_id = 0, last_id = 0;  // of the longest
    };
    std::map<int64_t, Waits> by_rank;
    int64_t all_ns = 0;
    TRACEDB_TRY(waits_->Bind(1, judged.stall.trace_id));
    TRACEDB_TRY(waits_->Bind(2, earliest_ns));
    TRACEDB_TRY(waits_->Bind(3, judged.stall.start_ns));
    for (;;) {
      TRACEDB_ASSIGN(row, waits_->Step());
      if (!row) break;
      const int64_t amount_ns = waits_->Int(2);
      Waits& waits = by_rank[waits_->Int(3)];
      all_ns = SumNs(all_ns, amount_ns);
      waits.sum_ns = SumNs(waits.sum_ns, amount_ns);
      if (amount_ns <= waits.longest_ns) continue;
      waits.longest_ns = amount_ns;
      waits.own_id = waits_->Int(0);
      waits.last_id = waits_->Int(1);
    }
    waits_->Reset();
    if (by_rank.empty() || !judged.Explains(all_ns)) return false;
    const Waits& most = std::max_element(by_rank.begin(), by_rank.end(), [](auto& a, auto& b) {
                          return a.second.sum_ns < b.second.sum_ns;
                        })->second;
    TRACEDB_TRY(upstream_->Bind(2, most.own_id));
    TRACEDB_TRY(upstream_->Bind(3, most.last_id));
    TRACEDB_TRY(Change(*upstream_, judged.stall.id));
    return true;
  }

  // Collectives that nothing waits for yet bring their streams together, not the ranks' work: it is
  // late for the next one too.
  Result<bool> Carry(const Judged& judged) {
    const Stall& stall = judged.stall;
    Stall in_step = stall;
    in_step.together_ns = std::numeric_limits<int64_t>::min();
    TRACEDB_ASSIGN(step_ns, earliest_->Find(in_step));
    TRACEDB_TRY(before_->Bind(1, stall.trace_id));
    TRACEDB_TRY(before_->Bind(2, step_ns));
    TRACEDB_TRY(before_->Bind(3, stall.start_ns));
    TRACEDB_TRY(before_->Bind(4, judged.late_ns));
    TRACEDB_ASSIGN(any, before_->Step());
    const int64_t id = any ? before_->Int(0) : 0;
    before_->Reset();
    if (!any) return false;
    TRACEDB_TRY(carry_->Bind(2, id));
    TRACEDB_TRY(Change(*carry_, stall.id));
    return true;
  }

  std::optional<SqliteStatement> kernel_, device_, waits_, upstream_, before_, carry_, schedule_,
      leave_;
  std::optional<EarliestStart> earliest_;
  std::optional<TakenBefore> taken_;
  std::map<std::tuple<int64_t, int64_t, int64_t>, int64_t> kernels_;  // by trace, step and name
};

// What is left: the operator that held the host, or nothing.
Status NameHosts(SqliteDb& db) {
  TRACEDB_ASSIGN(any, db.Integer("SELECT EXISTS (SELECT 1 FROM temp.peer_left)"));
  if (any == 0) return Done{};
  TRACEDB_TRY(db.Execute(LeftSql()));
  TRACEDB_ASSIGN(any_held, db.Integer("SELECT EXISTS (SELECT 1 FROM temp.held)"));
  if (any_held != 0) TRACEDB_TRY(db.Execute(kWantedSql));
  TRACEDB_TRY(ComparePeers(db, kOperatorsSql, "peer_operators"));
  TRACEDB_TRY(db.Execute(kHostSql));
  return db.Execute(
      "DROP TABLE temp.held; DROP TABLE IF EXISTS temp.peer_wanted; "
      "DROP TABLE temp.peer_operators");
}

}  // namespace

Status JudgePeers(SqliteDb& db, const RankClocks& clocks) {
  TRACEDB_ASSIGN(any_device, db.Integer(kAnySql));
  if (any_device == 0) return Done{};
  TRACEDB_TRY(db.Execute(kStagesSql));
  TRACEDB_TRY(db.Execute(kJudgedSql));
  TRACEDB_TRY(db.Execute(kKeysSql));
  TRACEDB_TRY(ComparePeers(db, kKernelsSql, "peer_kernels"));
  {
    TRACEDB_ASSIGN(judge, PeerJudge::Open(db, clocks));
    TRACEDB_ASSIGN(rows, db.Prepare(kRowsSql));
    for (;;) {
      TRACEDB_ASSIGN(row, rows.Step());
      if (!row) break;
      TRACEDB_TRY(judge.Judge(Judged(rows)));
    }
  }
  TRACEDB_TRY(NameHosts(db));
  return db.Execute(
      "DROP TABLE temp.stage; DROP TABLE temp.judged; DROP TABLE temp.run; "
      "DROP TABLE temp.member; DROP TABLE temp.peer_left; DROP TABLE temp.peer_key; "
      "DROP TABLE temp.peer_kernels");
}

}  // namespace tracedb
