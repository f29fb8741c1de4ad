// Replay by replay: its kernels are read, known by their signature or matched with a capture, and
// given their paths.

#include "tracedb/ranks/graphs/graph_kernels.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ranks/graphs/graph_changes.h"
#include "ranks/graphs/graph_events.h"
#include "ranks/graphs/graph_match.h"
#include "ranks/graphs/graph_sums.h"
#include "ranks/graphs/path_meanings.h"
#include "ranks/graphs/path_updates.h"
#include "tracedb/base/interval.h"

namespace tracedb {
namespace {

constexpr size_t kBatchesMax = 4096;
constexpr size_t kGraphBytes = 128;  // a graph or signature, in a map

// Replays with one signature.
struct Pattern {
  int64_t graph_id = 0;
  GraphDecision decision;
};

// By what a pattern is told from others: the signature, the batch size, and which piece's turn it
// is.
using PatternKey = std::array<uint64_t, 3>;

struct ReplayTimes {
  int64_t gpu_ns = 0, span_ns = 0, idle_ns = 0;
};

// `nodes` are in the order of their starts.
ReplayTimes TimesOf(const std::vector<ReplayedNode>& nodes) {
  ReplayTimes times;
  int64_t busy_to = nodes.front().ts;
  for (const ReplayedNode& node : nodes) {
    const int64_t dur = std::max<int64_t>(node.dur, 0);
    times.gpu_ns = SumNs(times.gpu_ns, dur);
    if (node.ts > busy_to) times.idle_ns = SumNs(times.idle_ns, DifferenceNs(node.ts, busy_to));
    busy_to = std::max(busy_to, SumNs(node.ts, dur));
  }
  times.span_ns = DifferenceNs(busy_to, nodes.front().ts);
  return times;
}

class TraceGraphs {
 public:
  TraceGraphs(SqliteDb& db, GraphEvents& events, PathMeanings& meanings, const GraphTrace& trace,
              const GraphLimits& limits)
      : db_(&db),
        events_(&events),
        trace_(&trace),
        limits_(limits),
        changes_(db, meanings, trace.trace_id, limits.sum_bytes_max),
        meanings_(&meanings) {}

  Status Run() {
    TRACEDB_ASSIGN(matcher, GraphMatcher::Open(*events_, *trace_, limits_));
    TRACEDB_ASSIGN(updates, PathUpdates::Open(*db_, limits_.path_update_bytes_max));
    TRACEDB_ASSIGN(replays, db_->Prepare("SELECT g.id, g.correlation, g.path_id, "
                                         "  g.forward_path_id, s.ts FROM _graph_launch g "
                                         "JOIN _runtime_slice s ON s.id = g.id "
                                         "WHERE g.trace_id = ?1 ORDER BY s.ts, g.id"));
    TRACEDB_TRY(replays.Bind(1, trace_->trace_id));
    TRACEDB_TRY(EachReplay(replays, [&](const GraphReplay& replay) -> Status {
      if (first_.size() <= FirstMax()) first_.push_back(replay);
      return Done{};
    }));
    // Of more than fit in memory nobody looks at the order.
    if (first_.size() <= FirstMax()) {
      TRACEDB_TRY(matcher.FindTurns(first_, NodesMax()));
    }
    first_ = {};
    TRACEDB_TRY(EachReplay(
        replays, [&](const GraphReplay& replay) { return Replay(matcher, replay, updates); }));
    TRACEDB_TRY(updates.Flush());
    return changes_.Finish();
  }

 private:
  size_t FirstMax() const { return limits_.first_replay_bytes_max / sizeof(GraphReplay); }
  size_t NodesMax() const { return limits_.replayed_node_bytes_max / (2 * sizeof(ReplayedNode)); }
  // In the order of time; those of a batch size take turns.
  template <typename Take>
  Status EachReplay(SqliteStatement& replays, Take take) {
    std::map<int64_t, int64_t> turns;
    replays.Reset();
    for (;;) {
      TRACEDB_ASSIGN(row, replays.Step());
      if (!row) return Done{};
      GraphReplay replay{replays.Int(0),
                         replays.Int(1),
                         replays.OptionalInt(2).value_or(0),
                         replays.OptionalInt(3).value_or(0),
                         replays.Int(4),
                         0,
                         0};
      TRACEDB_ASSIGN(batch, meanings_->BatchOf(replay.path));
      replay.batch = batch;
      if (batch != 0 && turns.size() < kBatchesMax) replay.turn = turns[batch]++;
      TRACEDB_TRY(take(replay));
    }
  }
  Status Replay(GraphMatcher& matcher, const GraphReplay& replay, PathUpdates& updates);
  Result<Pattern*> PatternOf(GraphMatcher& matcher, const GraphReplay& replay,
                             const std::vector<ReplayedNode>& nodes, const ReplayStreams& streams);
  Result<int64_t> GraphOf(const ReplayStreams& streams, size_t nodes,
                          const GraphDecision& decision);
  Status StoreReplay(const GraphReplay& replay, int64_t graph_id, bool attributed,
                     const std::vector<ReplayedNode>& nodes);

  SqliteDb* db_;
  GraphEvents* events_;
  const GraphTrace* trace_;
  const GraphLimits limits_;
  GraphChanges changes_;
  PathMeanings* meanings_;
  std::map<PatternKey, Pattern> patterns_;
  std::vector<GraphReplay> first_;  // while their order is looked at
  size_t pattern_bytes_ = 0;
  std::map<std::pair<uint64_t, std::string>, int64_t> graphs_;  // by composition and decision
  int64_t graph_count_ = 0;
  std::optional<SqliteStatement> insert_replay_;
};

Result<int64_t> TraceGraphs::GraphOf(const ReplayStreams& streams, size_t nodes,
                                     const GraphDecision& decision) {
  const std::pair key(streams.composition, decision.source.empty()
                                               ? decision.reason
                                               : std::to_string(decision.capture_id));
  if (const auto at = graphs_.find(key); at != graphs_.end()) return at->second;
  if (graphs_.size() > limits_.graph_bytes_max / kGraphBytes)
    graphs_.clear();  // it is put down twice then
  TRACEDB_ASSIGN(insert, db_->Prepare("INSERT INTO _graph (trace_id, number, nodes, source, "
                                      "capture_id, reason) VALUES (?1, ?2, ?3, ?4, ?5, ?6)"));
  TRACEDB_TRY(insert.Bind(1, trace_->trace_id));
  TRACEDB_TRY(insert.Bind(2, ++graph_count_));
  TRACEDB_TRY(insert.Bind(3, static_cast<int64_t>(nodes)));
  TRACEDB_TRY(insert.BindTextOrNull(4, decision.source));
  TRACEDB_TRY(decision.capture_id != 0 ? insert.Bind(5, decision.capture_id) : insert.BindNull(5));
  TRACEDB_TRY(insert.BindTextOrNull(6, decision.reason));
  TRACEDB_TRY(insert.Run());
  TRACEDB_ASSIGN(graph_id, db_->Integer("SELECT last_insert_rowid()"));
  return graphs_[key] = graph_id;
}

Result<Pattern*> TraceGraphs::PatternOf(GraphMatcher& matcher, const GraphReplay& replay,
                                        const std::vector<ReplayedNode>& nodes,
                                        const ReplayStreams& streams) {
  const int64_t pieces = matcher.PiecesOf(replay.batch);
  const PatternKey key{streams.signature, static_cast<uint64_t>(replay.batch),
                       static_cast<uint64_t>(pieces != 0 ? replay.turn % pieces : 0)};
  if (const auto at = patterns_.find(key); at != patterns_.end()) return &at->second;
  if (pattern_bytes_ > limits_.pattern_bytes_max) {
    patterns_.clear();
    pattern_bytes_ = 0;
  }
  Pattern pattern;
  TRACEDB_ASSIGN(decision, matcher.Decide(replay, nodes, streams));
  pattern.decision = std::move(decision);
  TRACEDB_ASSIGN(graph_id, GraphOf(streams, nodes.size(), pattern.decision));
  pattern.graph_id = graph_id;
  pattern_bytes_ += kGraphBytes + pattern.decision.paths.size() * sizeof(NodePath);
  return &patterns_.emplace(key, std::move(pattern)).first->second;
}

Status TraceGraphs::StoreReplay(const GraphReplay& replay, int64_t graph_id, bool attributed,
                                const std::vector<ReplayedNode>& nodes) {
  const ReplayTimes times = TimesOf(nodes);
  if (!insert_replay_.has_value()) {
    TRACEDB_ASSIGN(insert,
                   db_->Prepare("INSERT INTO _graph_replay VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)"));
    insert_replay_.emplace(std::move(insert));
  }
  int parameter = 0;
  for (const int64_t value :
       {replay.id, graph_id, static_cast<int64_t>(nodes.size()), int64_t{attributed ? 1 : 0},
        times.gpu_ns, times.span_ns, times.idle_ns}) {
    TRACEDB_TRY(insert_replay_->Bind(++parameter, value));
  }
  return insert_replay_->Run();
}

Status TraceGraphs::Replay(GraphMatcher& matcher, const GraphReplay& replay, PathUpdates& updates) {
  TRACEDB_TRY(updates.BeforeReading(replay.correlation));
  TRACEDB_ASSIGN(nodes, events_->NodesOf(*trace_, replay, NodesMax()));
  if (nodes.empty()) return Done{};
  const bool own_paths = std::any_of(nodes.begin(), nodes.end(), [&](const ReplayedNode& node) {
    return node.path != replay.path || node.forward != replay.forward;
  });
  const ReplayStreams streams = ReplayStreams::Of(nodes);
  if (own_paths) {
    GraphDecision known;
    known.source = "trace";  // its kernels name operators by External id: nothing is to be found
    TRACEDB_ASSIGN(graph_id, GraphOf(streams, nodes.size(), known));
    return StoreReplay(replay, graph_id, false, nodes);
  }
  TRACEDB_ASSIGN(pattern, PatternOf(matcher, replay, nodes, streams));
  const GraphDecision& decision = pattern->decision;
  const bool found = !decision.source.empty();
  TRACEDB_TRY(StoreReplay(replay, pattern->graph_id, found, nodes));
  if (!found) return Done{};
  const bool is_eager = decision.capture_id == 0;
  size_t place = 0;
  for (const std::vector<uint32_t>& stream : streams.nodes) {
    for (const uint32_t at : stream) {
      const NodePath& to = decision.paths[place++];
      TRACEDB_TRY(updates.Add(replay.correlation, nodes[at].id, to));
      TRACEDB_TRY(changes_.Add(replay, nodes[at], to,
                               is_eager ? std::nullopt : std::optional(decision.capture_path)));
    }
  }
  return is_eager ? Status(Done{}) : changes_.AddCalls(decision.capture_id, nodes.front().step);
}

// As it was before: activities have the path of the call that launched them.
Status TakeBack(SqliteDb& db) {
  TRACEDB_ASSIGN(any, db.Integer("SELECT EXISTS (SELECT 1 FROM _graph_replay)"));
  if (any != 0) {
    TRACEDB_TRY(
        db.Execute("UPDATE _launch SET path_id = g.path_id, "
                   "forward_path_id = g.forward_path_id "
                   "FROM _graph_replay r JOIN _graph_launch g ON g.id = r.id "
                   "WHERE r.attributed AND _launch.launch_slice_id = g.id"));
    TRACEDB_ASSIGN(traces, db.Prepare("SELECT DISTINCT trace_id FROM _graph_change "
                                      "WHERE trace_id IN (SELECT trace_id FROM _trace)"));
    std::vector<int64_t> changed;
    for (;;) {
      TRACEDB_ASSIGN(row, traces.Step());
      if (!row) break;
      changed.push_back(traces.Int(0));
    }
    for (const int64_t trace_id : changed) TRACEDB_TRY(ApplyGraphChanges(db, trace_id, -1));
  }
  return db.Execute(
      "DELETE FROM _graph_change; DELETE FROM _graph_replay; DELETE FROM _graph;"
      "DELETE FROM _graph_trace");
}

constexpr const char* kIsOldSql =
    "SELECT EXISTS (SELECT trace_id FROM _trace EXCEPT SELECT trace_id FROM _graph_trace) "
    "OR EXISTS (SELECT trace_id FROM _graph_trace EXCEPT SELECT trace_id FROM _trace)";

}  // namespace

Status AttributeGraphKernels(SqliteDb& db, const GraphLimits& limits) {
  TRACEDB_ASSIGN(any, db.Integer("SELECT EXISTS (SELECT 1 FROM _graph_launch) OR "
                                 "EXISTS (SELECT 1 FROM _graph_replay)"));
  if (any == 0) return Done{};
  TRACEDB_ASSIGN(is_old, db.Integer(kIsOldSql));
  if (is_old == 0) return Done{};
  TRACEDB_TRY(db.Execute("PRAGMA secure_delete = OFF; BEGIN IMMEDIATE"));
  TRACEDB_TRY(TakeBack(db));
  {
    TRACEDB_ASSIGN(meanings, PathMeanings::Open(db, limits.path_meaning_bytes_max));
    GraphEvents events(db, meanings, limits.name_bytes_max);
    TRACEDB_ASSIGN(traces, events.Traces());
    for (const GraphTrace& trace : traces) {
      TRACEDB_TRY(TraceGraphs(db, events, meanings, trace, limits).Run());
    }
  }
  TRACEDB_TRY(db.Execute("INSERT INTO _graph_trace SELECT trace_id FROM _trace"));
  return db.Execute("COMMIT");
}

}  // namespace tracedb
