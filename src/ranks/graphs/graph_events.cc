#include "ranks/graphs/graph_events.h"

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <utility>

#include "ranks/graphs/capture_details.h"
#include "tracedb/schema/args_columns.h"

namespace tracedb {
namespace {

// On so few tracks a replay's activities are looked for one after the other. A job may have
// thousands: then one pass over its activities says where the replays ran.
constexpr size_t kTracksEachMax = 16;

bool IsMark(char c) {
  for (int column = 0; column < kArgsColumns; ++column) {
    if (c == ArgsMark(column)) return true;
  }
  return false;
}

bool IsFill(std::string_view name) {
  return name.find("emset") != name.npos || name.find("Fill") != name.npos;
}

}  // namespace

Result<SqliteStatement*> GraphEvents::Prepared(std::optional<SqliteStatement>& to,
                                               const char* sql) {
  if (!to.has_value()) {
    TRACEDB_ASSIGN(statement, db_->Prepare(sql));
    to.emplace(std::move(statement));
  }
  return &*to;
}

Result<std::vector<int64_t>> GraphEvents::GpuTracks(int64_t trace_id) {
  TRACEDB_ASSIGN(rows, db_->Prepare("SELECT id FROM _track WHERE trace_id = ?1 AND device IS NOT "
                                    "NULL ORDER BY id"));
  TRACEDB_TRY(rows.Bind(1, trace_id));
  std::vector<int64_t> tracks;
  for (;;) {
    TRACEDB_ASSIGN(row, rows.Step());
    if (!row) return tracks;
    tracks.push_back(rows.Int(0));
  }
}

Status GraphEvents::FindTracks(int64_t trace_id) {
  if (in_graph_track_.contains(trace_id)) return Done{};
  TRACEDB_TRY(
      db_->Execute("CREATE TEMP TABLE IF NOT EXISTS graph_track (trace_id INTEGER, "
                   "correlation INTEGER, track INTEGER, "
                   "PRIMARY KEY (trace_id, correlation, track)) WITHOUT ROWID"));
  TRACEDB_ASSIGN(fill, db_->Prepare("INSERT OR IGNORE INTO temp.graph_track "
                                    "SELECT t.trace_id, g.correlation, g.track "
                                    "FROM _trace t CROSS JOIN _gpu_slice g "
                                    "  ON g.id BETWEEN t.first_row AND t.last_row "
                                    "WHERE t.trace_id = ?1 AND +g.correlation IN ("
                                    "  SELECT correlation FROM _graph_launch WHERE trace_id = ?1 "
                                    "  UNION SELECT s.correlation FROM _captured_launch l "
                                    "  JOIN _runtime_slice s ON s.id = l.id "
                                    "  WHERE l.trace_id = ?1)"));
  TRACEDB_TRY(fill.Bind(1, trace_id));
  TRACEDB_TRY(fill.Run());
  in_graph_track_.insert(trace_id);
  if (tracks_with_.has_value()) return Done{};
  TRACEDB_ASSIGN(statement, db_->Prepare("SELECT track FROM temp.graph_track "
                                         "WHERE trace_id = ?1 AND correlation = ?2"));
  tracks_with_.emplace(std::move(statement));
  return Done{};
}

Result<const std::vector<int64_t>*> GraphEvents::TracksWith(int64_t trace_id,
                                                            const std::vector<int64_t>& tracks,
                                                            int64_t correlation) {
  if (tracks.size() <= kTracksEachMax) return &tracks;
  TRACEDB_TRY(FindTracks(trace_id));
  TRACEDB_TRY(tracks_with_->Bind(1, trace_id));
  TRACEDB_TRY(tracks_with_->Bind(2, correlation));
  found_tracks_.clear();
  for (;;) {
    TRACEDB_ASSIGN(row, tracks_with_->Step());
    if (!row) break;
    found_tracks_.push_back(tracks_with_->Int(0));
  }
  tracks_with_->Reset();
  return &found_tracks_;
}

Result<std::vector<GraphTrace>> GraphEvents::Traces() {
  std::vector<GraphTrace> traces;
  TRACEDB_ASSIGN(rows,
                 db_->Prepare("SELECT trace_id, run_id, rank, first_row, last_row FROM _trace "
                              "WHERE trace_id IN (SELECT trace_id FROM _graph_launch) "
                              "ORDER BY trace_id"));
  for (;;) {
    TRACEDB_ASSIGN(row, rows.Step());
    if (!row) break;
    traces.push_back({rows.Int(0), rows.Int(1), rows.Int(2), rows.Int(3), rows.Int(4), {}});
  }
  for (GraphTrace& trace : traces) {
    TRACEDB_ASSIGN(tracks, GpuTracks(trace.trace_id));
    trace.gpu_tracks = std::move(tracks);
  }
  return traces;
}

// Of the same process: its own trace, another of its rank, or a file that holds captures alone.
Result<std::optional<std::vector<GraphCapture>>> GraphEvents::CapturesFor(const GraphTrace& trace,
                                                                          size_t count_max) {
  TRACEDB_ASSIGN(count, db_->Prepare("SELECT count(*) FROM _graph_capture c "
                                     "JOIN _trace t USING (trace_id) "
                                     "WHERE t.run_id = ?1 AND t.rank = ?2"));
  TRACEDB_TRY(count.Bind(1, trace.run_id));
  TRACEDB_TRY(count.Bind(2, trace.rank));
  TRACEDB_TRY(count.Step());
  if (count.Int(0) > static_cast<int64_t>(count_max)) {
    return std::optional<std::vector<GraphCapture>>();
  }
  TRACEDB_ASSIGN(rows, db_->Prepare("SELECT c.id, c.trace_id, c.path_id, t.path, s.ts, t.folder "
                                    "FROM _graph_capture c JOIN _trace t USING (trace_id) "
                                    "JOIN _runtime_slice s ON s.id = c.id "
                                    "WHERE t.run_id = ?1 AND t.rank = ?2 "
                                    "ORDER BY c.trace_id <> ?3, c.id"));
  TRACEDB_ASSIGN(launches, db_->Prepare("SELECT count(*), sum(kind = 4), sum(kind = 7) "
                                        "FROM _captured_launch WHERE capture_id = ?1"));
  TRACEDB_TRY(rows.Bind(1, trace.run_id));
  TRACEDB_TRY(rows.Bind(2, trace.rank));
  TRACEDB_TRY(rows.Bind(3, trace.trace_id));
  std::vector<GraphCapture> captures;
  std::set<std::filesystem::path> paths;
  std::vector<const std::filesystem::path*> files;  // of each capture, in paths
  captures.reserve(static_cast<size_t>(count.Int(0)));
  files.reserve(captures.capacity());
  for (;;) {
    TRACEDB_ASSIGN(row, rows.Step());
    if (!row) break;
    GraphCapture capture;
    capture.id = rows.Int(0);
    capture.trace_id = rows.Int(1);
    capture.path = rows.Int(2);
    capture.ts = rows.Int(4);
    const std::filesystem::path given = rows.Text(3);  // from where ingest was called
    const auto file = paths.insert(std::filesystem::path(rows.Text(5)) / given.filename()).first;
    files.push_back(&*file);
    capture.batch = BatchInName(file->filename().string());
    TRACEDB_TRY(launches.Bind(1, capture.id));
    TRACEDB_ASSIGN(counted, launches.Step());
    if (counted) {
      capture.launches = launches.Int(0);
      capture.has_graph = launches.Int(1) != 0;
      capture.has_body = launches.Int(2) != 0;
    }
    launches.Reset();
    captures.push_back(capture);
  }
  CaptureDetails details(*db_);
  for (size_t i = 0; i < captures.size(); ++i) {
    if (captures[i].batch != 0) continue;
    TRACEDB_ASSIGN(named, meanings_->BatchOf(captures[i].path));
    captures[i].batch = named;
    if (named != 0) continue;
    TRACEDB_ASSIGN(told, details.BatchOf(*files[i]));
    captures[i].batch = told;
  }
  return std::optional(std::move(captures));
}

Result<GraphEvents::ActivityKey> GraphEvents::KeyOfActivity(int64_t event_name, int64_t args_text,
                                                            bool is_memory) {
  if (keys_.size() > names_max_) keys_.clear();
  const auto at = keys_.find({event_name, args_text});
  if (at != keys_.end()) return at->second;
  TRACEDB_ASSIGN(read, Prepared(key_,
                                "SELECT (SELECT name FROM _event_name WHERE id = ?1), grid, block, "
                                "  instr(args, '\"graph node id\"') OR "
                                "  instr(args, '\"graphNodeId\"') "
                                "FROM (SELECT 1) LEFT JOIN _args_text a ON a.id = ?2"));
  TRACEDB_TRY(read->Bind(1, event_name));
  TRACEDB_TRY(read->Bind(2, args_text));
  TRACEDB_ASSIGN(any, read->Step());
  ActivityKey key;
  if (any) {
    const std::string name(read->Text(0)), grid(read->Text(1)), block(read->Text(2));
    const GraphNodeKind kind = !is_memory     ? GraphNodeKind::kKernel
                               : IsFill(name) ? GraphNodeKind::kFill
                                              : GraphNodeKind::kCopy;
    key = {KeyOf(kind, name, grid, block), read->Int(3) != 0};
  }
  read->Reset();
  keys_[{event_name, args_text}] = key;
  return key;
}

Result<NodeKey> GraphEvents::KeyOfLaunch(GraphNodeKind kind, int64_t args_text) {
  if (launches_.size() > names_max_) launches_.clear();
  const std::pair at(static_cast<int64_t>(kind), args_text);
  if (const auto known = launches_.find(at); known != launches_.end()) return known->second;
  TRACEDB_ASSIGN(read,
                 Prepared(launch_args_, "SELECT args, grid, block FROM _args_text WHERE id = ?1"));
  TRACEDB_TRY(read->Bind(1, args_text));
  TRACEDB_ASSIGN(any, read->Step());
  std::string args, name, grid, block;
  if (any) {
    args = read->Text(0);
    grid = read->Text(1);
    block = read->Text(2);
  }
  read->Reset();
  if (args.find("\"kernel\"") != args.npos) {
    // Numbers that are not in the text, but in columns of the call.
    std::replace_if(args.begin(), args.end(), IsMark, '0');
    TRACEDB_ASSIGN(extract, Prepared(launch_name_,
                                     "SELECT iif(json_valid(?1), json_extract(?1, '$.kernel'), "
                                     "           NULL)"));
    TRACEDB_TRY(extract->Bind(1, std::string_view(args)));
    TRACEDB_ASSIGN(row, extract->Step());
    if (row) name = extract->Text(0);
    extract->Reset();
  }
  return launches_[at] = KeyOf(kind, name, grid, block);
}

Result<std::vector<ReplayedNode>> GraphEvents::NodesOf(const GraphTrace& trace,
                                                       const GraphReplay& replay,
                                                       size_t nodes_max) {
  constexpr int64_t kWaiting = 3;
  constexpr int64_t kMemory = 2;
  std::vector<ReplayedNode> nodes;
  TRACEDB_ASSIGN(read, Prepared(nodes_,
                                "SELECT g.id, g.ts, g.dur, g.event_name, g.args_text, g.kind, "
                                "  k.path_id, k.forward_path_id, k.step "
                                "FROM _gpu_slice g LEFT JOIN _launch k ON k.id = g.id "
                                "WHERE g.track = ?1 AND g.correlation = ?2"));
  TRACEDB_ASSIGN(tracks, TracksWith(trace.trace_id, trace.gpu_tracks, replay.correlation));
  for (const int64_t track : *tracks) {
    TRACEDB_TRY(read->Bind(1, track));
    TRACEDB_TRY(read->Bind(2, replay.correlation));
    for (;;) {
      TRACEDB_ASSIGN(row, read->Step());
      if (!row) break;
      if (read->Int(5) == kWaiting) continue;
      if (nodes.size() == nodes_max) {
        read->Reset();
        return std::vector<ReplayedNode>();
      }
      ReplayedNode node{
          read->Int(0),         track,        read->Int(1), read->Int(2), read->Int(3),
          read->OptionalInt(8), read->Int(6), read->Int(7), {},           false};
      TRACEDB_ASSIGN(key, KeyOfActivity(node.event_name, read->Int(4), read->Int(5) == kMemory));
      node.key = key.key;
      node.may_have_id = key.may_have_id;
      nodes.push_back(node);
    }
    read->Reset();
  }
  std::sort(nodes.begin(), nodes.end(), [](const ReplayedNode& a, const ReplayedNode& b) {
    return std::pair(a.ts, a.id) < std::pair(b.ts, b.id);
  });
  return nodes;
}

Result<std::vector<int64_t>> GraphEvents::NodeIds(const std::vector<ReplayedNode>& nodes) {
  std::vector<int64_t> ids;
  for (const ReplayedNode& node : nodes) {
    if (!node.may_have_id) return std::vector<int64_t>();
  }
  TRACEDB_ASSIGN(read, Prepared(node_id_,
                                "SELECT iif(json_valid(args), coalesce("
                                "  json_extract(args, '$.\"graph node id\"'), "
                                "  json_extract(args, '$.graphNodeId')), NULL) "
                                "FROM _gpu_slice_args WHERE slice_id = ?1"));
  for (const ReplayedNode& node : nodes) {
    TRACEDB_TRY(read->Bind(1, node.id));
    TRACEDB_ASSIGN(any, read->Step());
    const std::optional<int64_t> id = any ? read->OptionalInt(0) : std::nullopt;
    read->Reset();
    if (!id.has_value() || *id == 0) return std::vector<int64_t>();
    ids.push_back(*id);
  }
  std::vector<int64_t> sorted = ids;
  std::sort(sorted.begin(), sorted.end());
  const bool each_once = std::adjacent_find(sorted.begin(), sorted.end()) == sorted.end();
  return each_once ? ids : std::vector<int64_t>();
}

Result<bool> GraphEvents::RanSomething(int64_t trace_id, int64_t correlation) {
  if (capture_trace_ != trace_id) {
    TRACEDB_ASSIGN(all, GpuTracks(trace_id));
    capture_tracks_ = std::move(all);
    capture_trace_ = trace_id;
  }
  TRACEDB_ASSIGN(tracks, TracksWith(trace_id, capture_tracks_, correlation));
  TRACEDB_ASSIGN(any,
                 Prepared(any_, "SELECT 1 FROM _gpu_slice WHERE track = ?1 AND correlation = ?2"));
  for (const int64_t track : *tracks) {
    TRACEDB_TRY(any->Bind(1, track));
    TRACEDB_TRY(any->Bind(2, correlation));
    TRACEDB_ASSIGN(found, any->Step());
    any->Reset();
    if (found) return true;
  }
  return false;
}

Result<LaunchList> GraphEvents::LaunchesOf(const GraphCapture& capture) {
  TRACEDB_ASSIGN(rows, db_->Prepare("SELECT l.kind, l.path_id, l.forward_path_id, s.correlation, "
                                    "  s.args_text "
                                    "FROM _captured_launch l JOIN _runtime_slice s ON s.id = l.id "
                                    "WHERE l.capture_id = ?1 ORDER BY s.ts, l.id"));
  TRACEDB_TRY(rows.Bind(1, capture.id));
  LaunchList list;
  for (;;) {
    TRACEDB_ASSIGN(row, rows.Step());
    if (!row) return list;
    const std::optional<int64_t> correlation = rows.OptionalInt(3);
    if (correlation.has_value()) {
      TRACEDB_ASSIGN(ran, RanSomething(capture.trace_id, *correlation));
      if (ran) continue;
    }
    const NodePath path{rows.Int(1), rows.Int(2)};
    TRACEDB_ASSIGN(key, KeyOfLaunch(static_cast<GraphNodeKind>(rows.Int(0)), rows.Int(4)));
    LaunchedNode node{key, 0};
    TRACEDB_ASSIGN(meaning, meanings_->MeaningOf(path.path));
    node.meaning = meaning;
    list.nodes.push_back(node);
    list.paths.push_back(path);
  }
}

Result<std::vector<LaunchList>> GraphEvents::EagerLaunches(const GraphTrace& trace,
                                                           size_t count_max) {
  TRACEDB_ASSIGN(rows, db_->Prepare("SELECT s.track, k.path_id, k.forward_path_id, g.event_name, "
                                    "  g.args_text, g.kind "
                                    "FROM _launch k CROSS JOIN _gpu_slice g ON g.id = k.id "
                                    "CROSS JOIN _runtime_slice s ON s.id = k.launch_slice_id "
                                    "WHERE k.id BETWEEN ?1 AND ?2 AND g.kind <> 3 AND "
                                    "  k.launch_slice_id NOT IN (SELECT id FROM _graph_launch) "
                                    "ORDER BY s.track, k.launch_ts_ns, g.ts, g.id LIMIT ?3"));
  TRACEDB_TRY(rows.Bind(1, trace.first_row));
  TRACEDB_TRY(rows.Bind(2, trace.last_row));
  TRACEDB_TRY(rows.Bind(3, static_cast<int64_t>(count_max)));
  std::vector<LaunchList> threads;
  int64_t track = 0;
  for (;;) {
    TRACEDB_ASSIGN(row, rows.Step());
    if (!row) return threads;
    if (threads.empty() || track != rows.Int(0)) threads.emplace_back();
    track = rows.Int(0);
    const NodePath path{rows.OptionalInt(1).value_or(0), rows.OptionalInt(2).value_or(0)};
    LaunchedNode node;
    TRACEDB_ASSIGN(key,
                   KeyOfActivity(rows.Int(3), rows.OptionalInt(4).value_or(0), rows.Int(5) == 2));
    node.key = key.key;
    TRACEDB_ASSIGN(meaning, meanings_->MeaningOf(path.path));
    node.meaning = meaning;
    threads.back().nodes.push_back(node);
    threads.back().paths.push_back(path);
  }
}

}  // namespace tracedb
