#include "ranks/graphs/graph_changes.h"

#include <array>
#include <limits>
#include <string>
#include <utility>

#include "tracedb/base/interval.h"

namespace tracedb {
namespace {

// Of a damaged database, too: it stays at the ends.
void AddTo(int64_t& sum, int64_t more) { sum = SumNs(sum, more); }

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
    TRACEDB_TRY(SpreadOne(use, count));
    if (sums_.size() > sums_max_ / 2) TRACEDB_TRY(Store());
  }
  const auto replays = std::exchange(replays_, {});
  for (const auto& [of, times] : replays) TRACEDB_TRY(CountCalls(of.first, of.second, times));
  return sums_.size() > sums_max_ / 2 ? Store() : Status(Done{});
}

void GraphChanges::NewEpoch(const Use& use) {
  const bool same_places = generation_ == meanings_->generation();
  if (!same_places) slots_.clear();
  slots_.resize(meanings_->places());
  path_marks_.resize(meanings_->places());
  name_marks_.resize(meanings_->names());
  const bool goes_on =
      same_places && epoch_ != 0 && epoch_step_ == use.step && epoch_is_eager_ == use.is_eager;
  generation_ = meanings_->generation();
  epoch_step_ = use.step;
  epoch_is_eager_ = use.is_eager;
  if (!goes_on) epoch_ = ++mark_;
}

void GraphChanges::NewMarks() { ++mark_; }

bool GraphChanges::MarkName(PathPlace place) {
  return std::exchange(name_marks_[meanings_->at(place).name], mark_) != mark_;
}

GraphChanges::Sums& GraphChanges::InnerOf(const Use& use, PathPlace place) {
  Slot& slot = slots_[place];
  if (slot.epoch != epoch_) slot = {epoch_, &Of(use.step, meanings_->at(place), use.is_eager)};
  return *slot.sums;
}

// Those below the path on which the capture was begun; of what ran one by one from the outermost
// operator or module on.
void GraphChanges::FindInner(PathPlace to, PathPlace begun, bool is_eager) {
  inner_.clear();
  if (is_eager) {
    size_t count = 0;
    for (PathPlace at = to; at != 0; at = meanings_->at(at).parent) {
      inner_.push_back(at);
      const HostKind kind = meanings_->at(at).kind;
      if (kind == HostKind::kOperator || kind == HostKind::kModule) count = inner_.size();
    }
    inner_.resize(count);
    return;
  }
  const uint64_t mark = ++mark_;
  for (PathPlace at = begun; at != 0; at = meanings_->at(at).parent) path_marks_[at] = mark;
  for (PathPlace at = to; at != 0 && path_marks_[at] != mark; at = meanings_->at(at).parent) {
    inner_.push_back(at);
  }
}

// As HostDerivation::CountFor counts a launch, but what was on the path of the replay's call has
// the activities already: it loses what is its own to what is of the same kind in the graph.
Status GraphChanges::SpreadOne(const Use& use, const Count& count) {
  const std::array<int64_t, 5> ids{use.from, use.from_forward, use.to, use.to_forward,
                                   use.capture_path};
  std::array<PathPlace, 5> places{};
  TRACEDB_TRY(meanings_->Find(ids, places));
  NewEpoch(use);
  const Ends ends{places[0], places[1], places[2], places[3], places[4]};
  Move(use, ends, count);
  SpreadForward(use, ends, count);
  if (ends.to_forward != 0) SpreadBackward(use, ends, count);
  return Done{};
}

// From operator to operator.
void GraphChanges::Move(const Use& use, const Ends& ends, const Count& count) {
  const auto move = [&](PathPlace op, PathPlace forward_op, int64_t sign) {
    Sums& sums = sums_[{use.step, -1, meanings_->at(op).op, meanings_->at(forward_op).op,
                        use.kernel, false}];
    AddTo(sums.activities, sign * count.activities);
    AddTo(sums.gpu_ns, sign * count.gpu_ns);
  };
  move(ends.from, ends.from_forward, -1);
  move(ends.to, ends.to_forward, 1);
}

void GraphChanges::SpreadForward(const Use& use, const Ends& ends, const Count& count) {
  FindInner(ends.to, ends.begun, use.is_eager);
  NewMarks();
  for (PathPlace at = ends.from; at != 0; at = meanings_->at(at).parent) MarkName(at);
  std::array<bool, kHostKinds> has{};
  for (const PathPlace place : inner_) {
    bool& self = has[static_cast<size_t>(meanings_->at(place).kind)];
    if (!self) AddTo(InnerOf(use, place).self_gpu_ns, count.gpu_ns);
    self = true;
  }
  for (auto place = inner_.rbegin(); place != inner_.rend(); ++place) {
    if (!MarkName(*place)) continue;  // the outermost of a name has it
    Sums& sums = InnerOf(use, *place);
    AddTo(sums.activities, count.activities);
    AddTo(sums.gpu_ns, count.gpu_ns);
  }
  for (PathPlace at = ends.from; at != 0; at = meanings_->at(at).parent) {
    bool& lost = has[static_cast<size_t>(meanings_->at(at).kind)];
    if (lost) AddTo(Of(use.step, meanings_->at(at), false).self_gpu_ns, -count.gpu_ns);
    lost = false;
  }
}

// What is marked has all of it already.
void GraphChanges::SpreadBackward(const Use& use, const Ends& ends, const Count& count) {
  const uint64_t had = mark_;
  for (PathPlace at = ends.from_forward; at != 0; at = meanings_->at(at).parent) MarkName(at);
  FindInner(ends.to_forward, ends.begun, use.is_eager);
  std::array<bool, kHostKinds> has{};
  for (const PathPlace place : inner_) {
    bool& self = has[static_cast<size_t>(meanings_->at(place).kind)];
    const bool first = !std::exchange(self, true);
    if (name_marks_[meanings_->at(place).name] == had) continue;
    Sums& sums = InnerOf(use, place);
    if (first) AddTo(sums.self_backward_gpu_ns, count.gpu_ns);
    AddTo(sums.backward_gpu_ns, count.gpu_ns);
  }
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
    int64_t calls = 0;
    if (__builtin_mul_overflow(times, rows.Int(2), &calls)) continue;  // a damaged row
    AddTo(sums_[key].calls, calls);
  }
}

Status GraphChanges::Insert() {
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
    const bool from_eager = key.is_eager && key.kind == 0;
    any_eager_ = any_eager_ || from_eager;
    TRACEDB_TRY(from_eager ? insert.BindNull(12) : insert.Bind(12, sums.calls));
    TRACEDB_TRY(insert.Run());
  }
  return Done{};
}

Status GraphChanges::Store() {
  TRACEDB_TRY(Insert());
  any_stored_ = true;
  sums_.clear();
  epoch_ = 0;  // what slots_ point at is gone
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
  const bool all_here = !any_stored_;
  TRACEDB_TRY(Insert());
  if (all_here && !any_eager_) return ApplyGraphChanges(*db_, trace_id_, sums_);
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

}  // namespace tracedb
