#include "tracedb/ranks/runs/decide_runs.h"

#include <map>
#include <optional>
#include <string>

#include "ranks/runs/run_rules.h"
#include "ranks/runs/source_rules.h"

namespace tracedb {
namespace {

struct StoredPlace {
  std::optional<int64_t> run_id, capture_id, run_start_ns;
  bool operator==(const StoredPlace&) const = default;
};

Status ReadTraces(SqliteDb& db, std::vector<RecordedTrace>& traces,
                  std::vector<RecordedTrace>& graph_captures,
                  std::map<int64_t, StoredPlace>& stored) {
  TRACEDB_ASSIGN(rows, db.Prepare("SELECT trace_id, rank, folder, input_folder, named_run, "
                                  "  start_ns, end_ns, run_id, capture_id, run_start_ns, path "
                                  "FROM main._trace ORDER BY trace_id"));
  for (;;) {
    TRACEDB_ASSIGN(row, rows.Step());
    if (!row) break;
    auto& kind = IsGraphCaptureFile(rows.Text(10)) ? graph_captures : traces;
    kind.push_back({rows.Int(0), rows.Int(1), std::string(rows.Text(2)), rows.OptionalText(3),
                    rows.OptionalText(4), rows.OptionalInt(5), rows.OptionalInt(6)});
    stored[rows.Int(0)] = {rows.OptionalInt(7), rows.OptionalInt(8), rows.OptionalInt(9)};
  }
  if (traces.empty()) traces.swap(graph_captures);  // alone they are looked at like any trace
  return Done{};
}

// Captures of graphs are of the run around them, and in none of its captures by the profiler.
Status PlaceGraphCaptures(SqliteDb& db, const std::vector<RecordedTrace>& graph_captures,
                          std::vector<Run> runs, std::map<int64_t, StoredPlace>& stored) {
  std::vector<RecordedSource> as_sources;
  for (const RecordedTrace& trace : graph_captures) {
    as_sources.push_back({trace.trace_id, trace.folder, trace.input_folder, trace.named_run});
  }
  std::map<int64_t, std::optional<int64_t>> starts;
  for (const Run& run : runs) starts[run.run_id] = run.start_ns;
  TRACEDB_ASSIGN(update, db.Prepare("UPDATE main._trace SET is_graph_capture = 1, run_id = ?2, "
                                    "capture_id = NULL, run_start_ns = ?3 WHERE trace_id = ?1"));
  for (const SourcePlace& place : SortSources(as_sources, runs)) {
    std::optional<int64_t> run_id = place.run_id;
    if (run_id.has_value() && !starts.contains(*run_id)) run_id = std::nullopt;
    const std::optional<int64_t> start_ns = run_id.has_value() ? starts[*run_id] : std::nullopt;
    if (stored[place.source_id] == StoredPlace{run_id, std::nullopt, start_ns}) continue;
    TRACEDB_TRY(update.Bind(1, place.source_id));
    TRACEDB_TRY(update.BindOptional(2, run_id));
    TRACEDB_TRY(update.BindOptional(3, start_ns));
    TRACEDB_TRY(update.Run());
  }
  return Done{};
}

Status ReadSources(SqliteDb& db, std::vector<RecordedSource>& sources) {
  TRACEDB_ASSIGN(rows, db.Prepare("SELECT source_id, folder, input_folder, named_run "
                                  "FROM main._source ORDER BY source_id"));
  for (;;) {
    TRACEDB_ASSIGN(row, rows.Step());
    if (!row) return Done{};
    sources.push_back(
        {rows.Int(0), std::string(rows.Text(1)), rows.OptionalText(2), rows.OptionalText(3)});
  }
}

Status WriteSources(SqliteDb& db, const std::vector<SourcePlace>& places) {
  TRACEDB_ASSIGN(update, db.Prepare("UPDATE main._source SET run_id = ?2 "
                                    "WHERE source_id = ?1 AND run_id IS NOT ?2"));
  for (const SourcePlace& place : places) {
    TRACEDB_TRY(update.Bind(1, place.source_id));
    TRACEDB_TRY(place.run_id.has_value() ? update.Bind(2, *place.run_id) : update.BindNull(2));
    TRACEDB_TRY(update.Run());
  }
  return Done{};
}

// What stays as it is keeps its row: users may have columns of their own in it, or refer to it.
Status WriteRuns(SqliteDb& db, const RunsAndCaptures& decided) {
  TRACEDB_ASSIGN(run, db.Prepare("INSERT INTO main._run (run_id, run, path) VALUES (?1, ?2, ?3) "
                                 "ON CONFLICT (run_id) DO UPDATE SET run = ?2, path = ?3 "
                                 "WHERE run <> ?2 OR path <> ?3"));
  for (const Run& found : decided.runs) {
    TRACEDB_TRY(run.Bind(1, found.run_id));
    TRACEDB_TRY(run.Bind(2, std::string_view(found.name)));
    TRACEDB_TRY(run.Bind(3, std::string_view(found.path)));
    TRACEDB_TRY(run.Run());
  }
  TRACEDB_ASSIGN(capture,
                 db.Prepare("INSERT INTO main._capture (capture_id, run_id, capture) "
                            "VALUES (?1, ?2, ?3) ON CONFLICT (capture_id) DO UPDATE "
                            "SET run_id = ?2, capture = ?3 WHERE run_id <> ?2 OR capture <> ?3"));
  for (const Capture& found : decided.captures) {
    TRACEDB_TRY(capture.Bind(1, found.capture_id));
    TRACEDB_TRY(capture.Bind(2, found.run_id));
    TRACEDB_TRY(capture.Bind(3, found.number));
    TRACEDB_TRY(capture.Run());
  }
  return Done{};
}

}  // namespace

bool IsGraphCaptureFile(std::string_view path) {
  const size_t slash = path.rfind('/');
  const std::string_view name = slash == path.npos ? path : path.substr(slash + 1);
  const std::string_view folder = slash == path.npos ? "" : path.substr(0, slash);
  if (folder == "capture_traces" || folder.ends_with("/capture_traces")) return true;
  if (name.starts_with("graph_capture_rank_")) return true;
  if (!name.starts_with("bs_")) return false;
  const size_t digits = name.find_first_not_of("0123456789", 3);
  return digits != name.npos && digits > 3 && name.substr(digits).starts_with("_rank");
}

Result<std::vector<TraceMove>> DecideRuns(SqliteDb& db) {
  std::vector<RecordedTrace> traces;
  std::map<int64_t, StoredPlace> stored;
  std::vector<RecordedTrace> graph_captures;
  TRACEDB_TRY(ReadTraces(db, traces, graph_captures, stored));
  std::vector<RecordedSource> sources;
  TRACEDB_TRY(ReadSources(db, sources));
  RunsAndCaptures decided = SortIntoRuns(traces);
  const std::vector<SourcePlace> source_places = SortSources(sources, decided.runs);
  TRACEDB_TRY(WriteRuns(db, decided));
  if (!source_places.empty()) TRACEDB_TRY(WriteSources(db, source_places));
  if (!graph_captures.empty()) {
    TRACEDB_TRY(PlaceGraphCaptures(db, graph_captures, decided.runs, stored));
  }
  std::map<int64_t, std::optional<int64_t>> starts;
  for (const Run& run : decided.runs) starts[run.run_id] = run.start_ns;
  TRACEDB_ASSIGN(update, db.Prepare("UPDATE main._trace SET run_id = ?2, capture_id = ?3, "
                                    "run_start_ns = ?4 WHERE trace_id = ?1"));
  std::vector<TraceMove> moves;
  for (const TracePlace& place : decided.places) {
    const std::optional<int64_t> start_ns = starts[place.run_id];
    const StoredPlace& before = stored[place.trace_id];
    if (before == StoredPlace{place.run_id, place.capture_id, start_ns}) continue;
    if (before.run_id != place.run_id || before.capture_id != place.capture_id) {
      moves.push_back({place.trace_id, place.run_id, place.capture_id});
    }
    TRACEDB_TRY(update.Bind(1, place.trace_id));
    TRACEDB_TRY(update.Bind(2, place.run_id));
    TRACEDB_TRY(update.Bind(3, place.capture_id));
    TRACEDB_TRY(start_ns.has_value() ? update.Bind(4, *start_ns) : update.BindNull(4));
    TRACEDB_TRY(update.Run());
  }
  TRACEDB_TRY(db.Execute(
      "DELETE FROM main._run WHERE run_id NOT IN (SELECT run_id FROM main._trace WHERE run_id IS "
      "NOT NULL) "
      "AND run_id NOT IN (SELECT run_id FROM main._source WHERE run_id IS NOT NULL);"
      "DELETE FROM main._capture WHERE capture_id NOT IN (SELECT capture_id FROM main._trace "
      "WHERE capture_id IS NOT NULL)"));
  return moves;
}

}  // namespace tracedb
