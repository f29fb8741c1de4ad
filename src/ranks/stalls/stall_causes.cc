// Fills collective_cause. Four passes: who was late for what (cause_arrivals), what held each of
// them (cause_host, cause_device), whether that is slower than elsewhere (cause_schedule), and
// where it came from (cause_chains).

#include "tracedb/ranks/stalls/stall_causes.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "ranks/stalls/cause_arrivals.h"
#include "ranks/stalls/cause_chains.h"
#include "ranks/stalls/cause_device.h"
#include "ranks/stalls/cause_host.h"
#include "ranks/stalls/cause_schedule.h"
#include "tracedb/base/sqlite_db.h"
#include "tracedb/schema/rank_clock.h"

namespace tracedb {
namespace {

constexpr size_t kStepStartsMax = 4096;  // that are kept from one stall to the next
constexpr const char* kNothingLong = "host work in pieces under 0.25 ms";
constexpr const char* kIdle = "an idle GPU";

struct Stall {
  int64_t id = 0;
  int64_t trace_id = 0;
  std::optional<int64_t> step;
  int64_t first_ns = 0;  // by the aligned clocks
  int64_t start_ns = 0;
  int64_t together_ns = 0;
  Interval range;  // the same stretch by the rank's own clock
  int64_t launch_id = 0;
  std::optional<int64_t> launch_ns;
};

// What held the rank that came last. kNone: the trace does not tell.
enum class CauseKind { kNone, kHost, kDeviceWork, kDeviceIdle, kUpstream };

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

struct Cause {
  CauseKind kind = CauseKind::kNone;
  int64_t slice_id = 0;
  std::optional<std::string> name;
  int64_t upstream_id = 0;
  int64_t carried_id = 0;
  int64_t clear_ns = 0;  // how much of the stretch one thing explains
};

class CauseFinder {
 public:
  static Result<CauseFinder> Open(SqliteDb& db, const RankClocks& clocks) {
    TRACEDB_ASSIGN(device, DeviceWatch::Open(db, clocks));
    TRACEDB_ASSIGN(host, HostWatch::Open(db));
    CauseFinder finder(clocks, std::move(device), std::move(host));
    const auto prepare = [&db](std::optional<SqliteStatement>& to, const char* sql) -> Status {
      TRACEDB_ASSIGN(statement, db.Prepare(sql));
      to.emplace(std::move(statement));
      return Done{};
    };
    TRACEDB_TRY(
        prepare(finder.launch_, "SELECT launch_slice_id, launch_ts_ns FROM _launch WHERE id = ?1"));
    TRACEDB_TRY(prepare(finder.kernel_name_,
                        "SELECT l.name FROM _gpu_slice g JOIN _event_name l ON l.id = g.event_name "
                        "WHERE g.id = ?1"));
    TRACEDB_TRY(prepare(finder.collective_name_,
                        "SELECT p.collective || coalesce(' of ' || coalesce(nullif(g.description, "
                        "''), nullif(g.name, '')), '') FROM _collective_part p "
                        "LEFT JOIN _process_group g ON g.group_id = p.group_id WHERE p.id = ?1"));
    TRACEDB_TRY(
        prepare(finder.late_,
                "SELECT own_id, id FROM temp.late WHERE trace_id = ?1 AND start_ns > ?2 AND "
                "start_ns < ?3 AND amount_ns BETWEEN ?4 / 2 AND ?4 * 2 AND own_id <> ?5 "
                "ORDER BY amount_ns DESC, start_ns, own_id LIMIT 1"));
    TRACEDB_TRY(prepare(finder.step_,
                        "SELECT min(s.ts + t.base_ns) FROM _step s JOIN _track t ON t.id = s.track "
                        "WHERE t.trace_id = ?1 AND s.step = ?2"));
    return finder;
  }

  Result<Cause> Find(Stall& stall);

 private:
  CauseFinder(const RankClocks& clocks, DeviceWatch device, HostWatch host)
      : clocks_(&clocks), device_(std::move(device)), host_(std::move(host)) {}

  Result<Cause> HeldByHost(const Stall& stall, int64_t launch_id, Interval range);
  Result<Cause> HeldByDevice(const Stall& stall, Interval range, bool may_ask_host);
  Result<Cause> Waited(const DeviceStory& story);
  Status FindCarried(const Stall& stall, Cause& cause);
  Result<int64_t> Earliest(const Stall& stall);
  Result<std::string> NameOf(SqliteStatement& name, int64_t id);

  const RankClocks* clocks_;
  DeviceWatch device_;
  HostWatch host_;
  std::optional<SqliteStatement> launch_, kernel_name_, collective_name_, late_, step_;
  std::map<std::pair<int64_t, int64_t>, int64_t> step_starts_;
};

Result<Cause> CauseFinder::Find(Stall& stall) {
  TRACEDB_TRY(launch_->Bind(1, stall.id));
  TRACEDB_ASSIGN(launched, launch_->Step());
  if (launched && launch_->Type(1) != SqlType::kNull) {
    stall.launch_id = launch_->Int(0);
    stall.launch_ns = launch_->Int(1);
  }
  launch_->Reset();
  Cause cause;
  const Interval range = stall.range;
  const bool late_launch =
      stall.launch_ns.has_value() &&
      DifferenceNs(*stall.launch_ns, range.start_ns) >= range.length() / 2 + range.length() % 2;
  if (range.length() < kNamedWaitNs) {
    if (stall.launch_ns.has_value())
      cause.kind = late_launch ? CauseKind::kHost : CauseKind::kDeviceWork;
    return cause;
  }
  if (late_launch) {
    const Interval before{range.start_ns, std::min(*stall.launch_ns, range.end_ns)};
    TRACEDB_ASSIGN(found, HeldByHost(stall, stall.launch_id, before));
    cause = std::move(found);
  } else {
    TRACEDB_ASSIGN(found, HeldByDevice(stall, range, stall.launch_ns.has_value()));
    cause = std::move(found);
  }
  if (2 * cause.clear_ns < range.length()) TRACEDB_TRY(FindCarried(stall, cause));
  return cause;
}

// A call that waits for the device is no cause of its own: what the device did meanwhile is.
Result<Cause> CauseFinder::HeldByHost(const Stall& stall, int64_t launch_id, Interval range) {
  TRACEDB_ASSIGN(story, host_.Look(launch_id, range));
  if (story.waits_for_device) {
    TRACEDB_ASSIGN(cause, HeldByDevice(stall, story.range, false));
    if (cause.kind != CauseKind::kDeviceIdle) return cause;
  }
  Cause cause;
  cause.kind = CauseKind::kHost;
  cause.slice_id = story.slice_id;
  cause.name = story.slice_id != 0 ? story.name : kNothingLong;
  cause.clear_ns = story.longest_ns;
  return cause;
}

Result<Cause> CauseFinder::HeldByDevice(const Stall& stall, Interval range, bool may_ask_host) {
  TRACEDB_ASSIGN(story, device_.Look(stall.id, range));
  Cause cause;
  if (story.wait_ns >= story.busy_ns && story.wait_ns >= story.idle_ns && story.wait_ns > 0) {
    return Waited(story);
  }
  if (story.busy_ns >= story.idle_ns && story.busy_ns > 0) {
    cause.kind = CauseKind::kDeviceWork;
    TRACEDB_ASSIGN(name, NameOf(*kernel_name_, story.work.kernel_id));
    cause.slice_id = story.work.kernel_id;
    cause.name = std::move(name);
    cause.clear_ns = story.work.length_ns;
    return cause;
  }
  // Nothing ran: what came next was launched late, perhaps by another thread.
  int64_t launch_id = 0;
  int64_t launch_ns = 0;
  if (may_ask_host && story.after_gap_id != 0) {
    TRACEDB_TRY(launch_->Bind(1, story.after_gap_id));
    TRACEDB_ASSIGN(any, launch_->Step());
    if (any && launch_->Type(1) != SqlType::kNull) {
      launch_id = launch_->Int(0);
      launch_ns = launch_->Int(1);
    }
    launch_->Reset();
  }
  if (launch_id != 0 && DifferenceNs(launch_ns, story.gap.start_ns) >=
                            story.gap.length() / 2 + story.gap.length() % 2) {
    return HeldByHost(stall, launch_id,
                      {story.gap.start_ns, std::min(launch_ns, story.gap.end_ns)});
  }
  // Without its launch nobody can tell whether the device was free to begin.
  cause.clear_ns = story.gap.length();
  if (!stall.launch_ns.has_value()) return cause;
  cause.kind = CauseKind::kDeviceIdle;
  cause.name = kIdle;
  return cause;
}

Result<Cause> CauseFinder::Waited(const DeviceStory& story) {
  Cause cause;
  TRACEDB_ASSIGN(name, NameOf(*collective_name_, story.wait.kernel_id));
  cause.kind = CauseKind::kUpstream;
  cause.slice_id = story.wait.kernel_id;
  cause.name = std::move(name);
  cause.upstream_id = story.wait_for_id;
  cause.clear_ns = story.wait.length_ns;
  return cause;
}

Result<std::string> CauseFinder::NameOf(SqliteStatement& name, int64_t id) {
  TRACEDB_TRY(name.Bind(1, id));
  TRACEDB_ASSIGN(any, name.Step());
  std::string text(any ? name.Text(0) : "");
  name.Reset();
  return text;
}

// Many small things held it: then it did what the others had done before, and was behind already.
// Looks for what put it behind by about as much, in this step and since it was last together with
// the others.
Status CauseFinder::FindCarried(const Stall& stall, Cause& cause) {
  TRACEDB_ASSIGN(earliest_ns, Earliest(stall));
  TRACEDB_TRY(late_->Bind(1, stall.trace_id));
  TRACEDB_TRY(late_->Bind(2, earliest_ns));
  TRACEDB_TRY(late_->Bind(3, stall.start_ns));
  TRACEDB_TRY(late_->Bind(4, DifferenceNs(stall.start_ns, stall.first_ns)));
  TRACEDB_TRY(late_->Bind(5, stall.id));
  TRACEDB_ASSIGN(found, late_->Step());
  const int64_t own_id = found ? late_->Int(0) : 0;
  const int64_t last_id = found ? late_->Int(1) : 0;
  late_->Reset();
  if (!found) return Done{};
  if (own_id == last_id) {
    cause.carried_id = own_id;
    return Done{};
  }
  TRACEDB_ASSIGN(name, NameOf(*collective_name_, own_id));
  cause.kind = CauseKind::kUpstream;
  cause.slice_id = own_id;
  cause.name = std::move(name);
  cause.upstream_id = last_id;
  return Done{};
}

Result<int64_t> CauseFinder::Earliest(const Stall& stall) {
  const int64_t length_ns = DifferenceNs(stall.start_ns, stall.first_ns);
  constexpr int64_t kFactor = 10;
  const int64_t reach_ns =
      std::min(length_ns, std::numeric_limits<int64_t>::max() / kFactor) * kFactor;
  const int64_t without_step_ns = DifferenceNs(stall.first_ns, reach_ns);
  if (!stall.step.has_value()) return std::max(stall.together_ns, without_step_ns);
  if (step_starts_.size() >= kStepStartsMax) step_starts_.clear();
  const auto [at, is_new] = step_starts_.try_emplace({stall.trace_id, *stall.step}, 0);
  if (is_new) {
    TRACEDB_TRY(step_->Bind(1, stall.trace_id));
    TRACEDB_TRY(step_->Bind(2, *stall.step));
    TRACEDB_ASSIGN(any, step_->Step());
    if (any) at->second = step_->Int(0);
    step_->Reset();
  }
  return std::max(stall.together_ns,
                  SumNs(at->second, clocks_->ShiftNs(stall.trace_id, at->second)));
}

constexpr const char* kDirtySql =
    // Traces of ranks in whose groups something is not as it was; all that holds them may have
    // changed.
    "CREATE TEMP TABLE dirty (trace_id INTEGER PRIMARY KEY);"
    "INSERT OR IGNORE INTO temp.dirty SELECT t.trace_id FROM _process_group g, "
    "json_each(g.ranks) j JOIN _trace t ON t.run_id = g.run_id "
    "  AND t.rank = CAST(j.value AS INTEGER) WHERE g.group_id IN ("
    "  SELECT s.group_id FROM temp.stall s LEFT JOIN _collective_cause c ON c.id = s.id "
    "  WHERE c.first_start_ns IS NOT s.first_start_ns OR c.start_ns IS NOT s.start_ns "
    "    OR c.wait_ns IS NOT s.wait_ns OR c.group_id IS NOT s.group_id "
    "  UNION SELECT group_id FROM _collective_cause WHERE id NOT IN (SELECT id FROM temp.stall));"
    "DELETE FROM _collective_cause WHERE trace_id IN (SELECT trace_id FROM temp.dirty) "
    "  OR id NOT IN (SELECT id FROM temp.stall)";

Status StoreCause(SqliteStatement& insert, const Stall& stall, const Cause& cause) {
  const auto bind_id = [&insert](int at, int64_t id) {
    return id != 0 ? insert.Bind(at, id) : insert.BindNull(at);
  };
  const auto bind_text = [&insert](int at, const std::optional<std::string>& text) {
    return text.has_value() ? insert.Bind(at, std::string_view(*text)) : insert.BindNull(at);
  };
  TRACEDB_TRY(insert.Bind(1, stall.id));
  TRACEDB_TRY(cause.kind == CauseKind::kNone ? insert.BindNull(2)
                                             : insert.Bind(2, KindText(cause.kind)));
  TRACEDB_TRY(bind_id(3, cause.slice_id));
  TRACEDB_TRY(bind_text(4, cause.name));
  TRACEDB_TRY(bind_id(5, cause.upstream_id));
  TRACEDB_TRY(bind_id(6, cause.carried_id));
  return insert.Run();
}

Status FindCauses(SqliteDb& db, const RankClocks& clocks) {
  TRACEDB_TRY(db.Execute(kDirtySql));
  TRACEDB_ASSIGN(finder, CauseFinder::Open(db, clocks));
  TRACEDB_ASSIGN(stalls,
                 db.Prepare("SELECT s.id, s.trace_id, s.step, s.first_start_ns, s.start_ns, "
                            "s.together_ns, p.ts_ns FROM temp.stall s "
                            "JOIN _collective_part p ON p.id = s.id "
                            "WHERE s.trace_id IN (SELECT trace_id FROM temp.dirty) "
                            "ORDER BY s.id"));
  TRACEDB_ASSIGN(insert,
                 db.Prepare("INSERT INTO _collective_cause (id, trace_id, rank, group_id, step, "
                            "first_start_ns, start_ns, wait_ns, cause, cause_slice_id, "
                            "cause_name, upstream_id, carried_id) "
                            "SELECT id, trace_id, rank, group_id, step, "
                            "first_start_ns, start_ns, wait_ns, ?2, ?3, ?4, ?5, ?6 "
                            "FROM temp.stall WHERE id = ?1"));
  for (;;) {
    TRACEDB_ASSIGN(row, stalls.Step());
    if (!row) return Done{};
    Stall stall;
    stall.id = stalls.Int(0);
    stall.trace_id = stalls.Int(1);
    if (stalls.Type(2) != SqlType::kNull) stall.step = stalls.Int(2);
    stall.first_ns = stalls.Int(3);
    stall.start_ns = stalls.Int(4);
    stall.together_ns = stalls.Int(5);
    stall.range = {DifferenceNs(stalls.Int(6), DifferenceNs(stall.start_ns, stall.first_ns)),
                   stalls.Int(6)};
    TRACEDB_ASSIGN(cause, finder.Find(stall));
    TRACEDB_TRY(StoreCause(insert, stall, cause));
  }
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

Status ExplainStalls(SqliteDb& db, ExplainScope scope,
                     const std::function<Status(SqliteDb&)>& before_causes) {
  TRACEDB_ASSIGN(unexplained, db.Integer(kUnexplainedSql));
  TRACEDB_ASSIGN(together, db.Integer(kTogetherSql));
  if (together == 0 || (unexplained == 0 && scope == ExplainScope::kNewTraces)) return Done{};
  TRACEDB_TRY(db.Execute("PRAGMA secure_delete = OFF; BEGIN IMMEDIATE"));
  if (scope == ExplainScope::kEverything) TRACEDB_TRY(db.Execute("DELETE FROM _collective_cause"));
  TRACEDB_ASSIGN(clocks, RankClocks::Read(db));
  TRACEDB_TRY(CompareArrivals(db, clocks));
  if (before_causes) TRACEDB_TRY(before_causes(db));
  TRACEDB_TRY(FindCauses(db, clocks));
  TRACEDB_TRY(JudgeSchedules(db));
  TRACEDB_TRY(FollowChains(db));
  TRACEDB_TRY(
      db.Execute("DELETE FROM _explained_trace;"
                 "INSERT INTO _explained_trace (trace_id, capture_id) SELECT trace_id, capture_id "
                 "FROM _trace"));
  return db.Execute("COMMIT");
}

}  // namespace tracedb
