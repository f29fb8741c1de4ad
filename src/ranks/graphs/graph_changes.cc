#include "ranks/graphs/graph_changes.h"

#include <algorithm>
#include <array>
#include <limits>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace tracedb {
namespace {

// By name: users may have columns of their own.
const std::string kHostColumns =
    "trace_id, step, kind, event_name, args_text, calls, total_ns, self_ns, activities, gpu_ns, "
    "self_gpu_ns, backward_gpu_ns, self_backward_gpu_ns, graph_calls";
const std::string kKernelColumns = "trace_id, step, op, forward_op, kernel, activities, gpu_ns";

// The pieces of a path that are the graph's: below those on which the capture was begun; of what
// ran one by one from the outermost operator or module on.
std::vector<PathEntry> Inner(const std::vector<PathEntry>& path,
                             const std::vector<PathEntry>& begun, bool is_eager) {
  size_t first = 0;
  if (is_eager) {
    while (first < path.size() && path[first].kind != HostKind::kOperator &&
           path[first].kind != HostKind::kModule) {
      ++first;
    }
  } else {
    while (first < path.size() && first < begun.size() && path[first].id == begun[first].id) {
      ++first;
    }
  }
  return {path.begin() + static_cast<std::ptrdiff_t>(first), path.end()};
}

int64_t OpOf(const std::vector<PathEntry>& path) { return path.empty() ? 0 : path.back().op; }

Status BindId(SqliteStatement& insert, int parameter, int64_t id) {
  return id != 0 ? insert.Bind(parameter, id) : insert.BindNull(parameter);
}

}  // namespace

Status GraphChanges::Add(const GraphReplay& replay, const ReplayedNode& node, const NodePath& to,
                         std::optional<int64_t> capture_path) {
  Count& count = uses_[{node.step, replay.path, replay.forward, to.path, to.forward,
                        node.event_name, capture_path.value_or(0), !capture_path.has_value()}];
  ++count.activities;
  if (node.dur > 0 && __builtin_add_overflow(count.gpu_ns, node.dur, &count.gpu_ns)) {
    count.gpu_ns = INT64_MAX;
  }
  return uses_.size() < sums_max_ / 4 ? Status(Done{}) : Spread();
}

Status GraphChanges::AddCalls(int64_t capture_id, const Step& step) {
  ++replays_[{capture_id, step}];
  return replays_.size() < sums_max_ / 4 ? Status(Done{}) : Spread();
}

GraphChanges::Sums& GraphChanges::Of(const Step& step, const PathEntry& piece, bool is_eager) {
  return sums_[{step, static_cast<int64_t>(piece.kind), piece.event_name, piece.args_text, 0,
                is_eager}];
}

Status GraphChanges::Spread() {
  const std::map<Use, Count> uses = std::exchange(uses_, {});
  for (const auto& [use, count] : uses) {
    TRACEDB_TRY(SpreadOne(use, count.activities, count.gpu_ns));
    if (sums_.size() > sums_max_ / 2) TRACEDB_TRY(Store());
  }
  const auto replays = std::exchange(replays_, {});
  for (const auto& [of, times] : replays) TRACEDB_TRY(CountCalls(of.first, of.second, times));
  return sums_.size() > sums_max_ / 2 ? Store() : Status(Done{});
}

// As HostDerivation::CountFor counts a launch, but what was on the path of the replay's call has
// the activities already: it loses what is its own to what is of the same kind in the graph.
Status GraphChanges::SpreadOne(const Use& use, int64_t activities, int64_t gpu_ns) {
  std::array<std::vector<PathEntry>, 5> paths;
  size_t at = 0;
  for (const int64_t id : {use.from, use.from_forward, use.to, use.to_forward, use.capture_path}) {
    TRACEDB_ASSIGN(pieces, meanings_->Of(id));
    paths[at++] = *pieces;
  }
  const auto& [from, from_forward, to, to_forward, begun] = paths;
  const auto move = [&](int64_t op, int64_t forward_op, int64_t sign) {
    Sums& sums = sums_[{use.step, -1, op, forward_op, use.kernel, false}];
    sums.activities += sign * activities;
    sums.gpu_ns += sign * gpu_ns;
  };
  move(OpOf(from), OpOf(from_forward), -1);
  move(OpOf(to), OpOf(to_forward), 1);

  std::set<uint64_t> names;
  for (const PathEntry& piece : from) names.insert(piece.name_hash);
  std::array<bool, kHostKinds> has{};
  const std::vector<PathEntry> inner = Inner(to, begun, use.is_eager);
  for (auto piece = inner.rbegin(); piece != inner.rend(); ++piece) {
    bool& self = has[static_cast<size_t>(piece->kind)];
    if (!self) Of(use.step, *piece, use.is_eager).self_gpu_ns += gpu_ns;
    self = true;
  }
  for (const PathEntry& piece : inner) {  // the outermost of a name has it
    if (!names.insert(piece.name_hash).second) continue;
    Sums& sums = Of(use.step, piece, use.is_eager);
    sums.activities += activities;
    sums.gpu_ns += gpu_ns;
  }
  for (auto piece = from.rbegin(); piece != from.rend(); ++piece) {
    bool& lost = has[static_cast<size_t>(piece->kind)];
    if (lost) Of(use.step, *piece, false).self_gpu_ns -= gpu_ns;
    lost = false;
  }
  has = {};
  for (const PathEntry& piece : from_forward) names.insert(piece.name_hash);
  const std::vector<PathEntry> forward = Inner(to_forward, begun, use.is_eager);
  for (auto piece = forward.rbegin(); piece != forward.rend(); ++piece) {
    bool& self = has[static_cast<size_t>(piece->kind)];
    const bool first = !std::exchange(self, true);
    if (names.contains(piece->name_hash)) continue;  // it has all of it already
    Sums& sums = Of(use.step, *piece, use.is_eager);
    if (first) sums.self_backward_gpu_ns += gpu_ns;
    sums.backward_gpu_ns += gpu_ns;
  }
  return Done{};
}

// Operators alone: how often a replay calls them is what rates of work need.
Status GraphChanges::CountCalls(int64_t capture_id, const Step& step, int64_t times) {
  TRACEDB_ASSIGN(rows, db_->Prepare("SELECT c.event_name, c.args_text, sum(k.calls) "
                                    "FROM _captured_call k JOIN _call_path c ON c.id = k.path_id "
                                    "WHERE k.capture_id = ?1 AND c.kind = 0 GROUP BY 1, 2"));
  TRACEDB_TRY(rows.Bind(1, capture_id));
  for (;;) {
    TRACEDB_ASSIGN(row, rows.Step());
    if (!row) return Done{};
    const Key key{step, 0, rows.Int(0), rows.OptionalInt(1).value_or(0), 0, false};
    sums_[key].calls += times * rows.Int(2);
  }
}

Status GraphChanges::Store() {
  TRACEDB_ASSIGN(insert,
                 db_->Prepare("INSERT INTO _graph_change (trace_id, step, kind, name, "
                              "  detail, kernel, activities, gpu_ns, self_gpu_ns, "
                              "  backward_gpu_ns, self_backward_gpu_ns, calls) "
                              "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)"));
  for (const auto& [key, sums] : sums_) {
    TRACEDB_TRY(insert.Bind(1, trace_id_));
    TRACEDB_TRY(insert.BindOptional(2, key.step));
    TRACEDB_TRY(key.kind >= 0 ? insert.Bind(3, key.kind) : insert.BindNull(3));
    TRACEDB_TRY(BindId(insert, 4, key.name));
    TRACEDB_TRY(BindId(insert, 5, key.detail));
    TRACEDB_TRY(BindId(insert, 6, key.kernel));
    int parameter = 6;
    for (const int64_t value : {sums.activities, sums.gpu_ns, sums.self_gpu_ns,
                                sums.backward_gpu_ns, sums.self_backward_gpu_ns}) {
      TRACEDB_TRY(insert.Bind(++parameter, value));
    }
    // NULL: to be worked out from what ran one by one.
    TRACEDB_TRY(key.is_eager && key.kind == 0 ? insert.BindNull(12) : insert.Bind(12, sums.calls));
    TRACEDB_TRY(insert.Run());
  }
  sums_.clear();
  return Done{};
}

// A table can only go when no statement of the connection is under way: those here end with it.
Status GraphChanges::CountCaptures() {
  // In the order of time beside the steps: of those that go on, a capture is of the last to begin.
  TRACEDB_ASSIGN(captures, db_->Prepare("SELECT c.id, s.ts FROM _graph_capture c "
                                        "JOIN _runtime_slice s ON s.id = c.id "
                                        "WHERE c.trace_id = ?1 ORDER BY s.ts"));
  TRACEDB_ASSIGN(steps, db_->Prepare("SELECT p.step, p.ts, p.ts + p.dur FROM _step p "
                                     "JOIN _track q ON q.id = p.track "
                                     "WHERE q.trace_id = ?1 ORDER BY p.ts, p.dur DESC"));
  TRACEDB_TRY(captures.Bind(1, trace_id_));
  TRACEDB_TRY(steps.Bind(1, trace_id_));
  TRACEDB_ASSIGN(more_steps, steps.Step());
  Step step;
  int64_t step_end = std::numeric_limits<int64_t>::min();
  for (;;) {
    TRACEDB_ASSIGN(row, captures.Step());
    if (!row) break;
    while (more_steps && steps.Int(1) <= captures.Int(1)) {
      if (steps.Int(2) > captures.Int(1)) {
        step = steps.OptionalInt(0);
        step_end = steps.Int(2);
      }
      TRACEDB_ASSIGN(again, steps.Step());
      more_steps = again;
    }
    const bool is_within = captures.Int(1) < step_end;
    TRACEDB_TRY(CountCalls(captures.Int(0), is_within ? step : std::nullopt, -1));
  }
  return Done{};
}

Status GraphChanges::Finish() {
  TRACEDB_TRY(Spread());
  TRACEDB_TRY(CountCaptures());
  TRACEDB_TRY(Store());
  // What ran one by one tells how many calls so many activities are.
  const std::string trace = std::to_string(trace_id_);
  TRACEDB_TRY(
      db_->Execute("UPDATE _graph_change SET calls = coalesce(_graph_change.activities * e.calls / "
                   "e.activities, "
                   "  0) "
                   "FROM (SELECT event_name, args_text, sum(calls) AS calls, "
                   "        nullif(sum(activities), 0) AS activities FROM _host_use "
                   "      WHERE trace_id = " +
                   trace +
                   " AND kind = 0 GROUP BY 1, 2) e "
                   "WHERE trace_id = " +
                   trace +
                   " AND kind = 0 AND _graph_change.calls IS NULL "
                   "  AND e.event_name = name AND e.args_text IS detail"));
  TRACEDB_TRY(db_->Execute("UPDATE _graph_change SET calls = 0 WHERE calls IS NULL"));
  return ApplyGraphChanges(*db_, trace_id_, 1);
}

Status ApplyGraphChanges(SqliteDb& db, int64_t trace_id, int sign) {
  const std::string trace = std::to_string(trace_id);
  const std::string times = std::to_string(sign) + " * ";
  // Sums of made-up times may be as long as 64 bits can say, and those of two more than that.
  const auto summed = [](const std::string& column) {
    return "sum(min(" + column + ", 2305843009213693951)) AS " + column;
  };
  std::string host_sums;
  std::string host_zeros;
  std::string host_changes;
  for (const char* column :
       {"activities", "gpu_ns", "self_gpu_ns", "backward_gpu_ns", "self_backward_gpu_ns"}) {
    host_sums += ", " + summed(column);
    host_changes += ", " + times + column;
    host_zeros += std::string(" AND ") + column + " = 0";
  }
  // A row that had not found room is part of one without a key: it is that which loses.
  const std::string host =
      "CREATE TEMP TABLE graph_sums AS SELECT trace_id, step, kind, event_name, args_text, " +
      summed("calls") + ", " + summed("total_ns") + ", " + summed("self_ns") + host_sums + ", " +
      summed("graph_calls") + " FROM (SELECT " + kHostColumns +
      " FROM _host_use WHERE trace_id = " + trace +
      " UNION ALL SELECT trace_id, step, kind, name, detail, 0, 0, 0" + host_changes + ", " +
      times + "calls FROM _graph_change WHERE trace_id = " + trace +
      " AND kind IS NOT NULL) GROUP BY 1, 2, 3, 4, 5;"
      "DELETE FROM _host_use WHERE trace_id = " +
      trace +
      ";"
      "INSERT INTO _host_use (" +
      kHostColumns +
      ") SELECT * FROM temp.graph_sums WHERE NOT (calls = 0 AND "
      "total_ns = 0 AND self_ns = 0 AND graph_calls = 0" +
      host_zeros +
      ");"
      "DROP TABLE temp.graph_sums;";
  const std::string kernels =
      "CREATE TEMP TABLE graph_sums AS SELECT trace_id, step, op, forward_op, kernel, " +
      summed("activities") + ", " + summed("gpu_ns") + " FROM (SELECT " + kKernelColumns +
      " FROM _kernel_use WHERE trace_id = " + trace +
      " UNION ALL SELECT trace_id, step, name, detail, kernel, " + times + "activities, " + times +
      "gpu_ns FROM _graph_change WHERE trace_id = " + trace +
      " AND kind IS NULL) GROUP BY 1, 2, 3, 4, 5;"
      "UPDATE temp.graph_sums SET step = NULL, op = NULL, forward_op = NULL, kernel = NULL "
      "WHERE activities < 0;"
      "DELETE FROM _kernel_use WHERE trace_id = " +
      trace +
      ";"
      "INSERT INTO _kernel_use (" +
      kKernelColumns +
      ") SELECT trace_id, step, op, forward_op, kernel, sum(activities), "
      "sum(gpu_ns) FROM temp.graph_sums GROUP BY 1, 2, 3, 4, 5 HAVING sum(activities) <> 0 OR "
      "sum(gpu_ns) <> 0;"
      "DROP TABLE temp.graph_sums;";
  TRACEDB_TRY(db.Execute(host));
  return db.Execute(kernels);
}

}  // namespace tracedb
