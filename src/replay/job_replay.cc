#include "tracedb/replay/job_replay.h"

#include <array>
#include <utility>

#include "replay/ideal_weights.h"
#include "replay/job_rows.h"
#include "replay/path_owners.h"
#include "replay/replay_changes.h"
#include "replay/replay_graph.h"
#include "replay/replay_steps.h"
#include "replay/stop_watch.h"

namespace tracedb {
namespace {

// Of all rows together: 250 bytes each are 2 GB.
constexpr size_t kRowsMax = 8'000'000;

}  // namespace

std::string_view PieceKindText(PieceKind kind) {
  constexpr std::array<std::string_view, 11> kTexts = {
      "host",    "recorder", "launch", "compute", "communication", "memory",
      "waiting", "transfer", "gap",    "lag",     "unrecorded"};
  return kTexts[static_cast<size_t>(kind)];
}

JobReplay::JobReplay(std::unique_ptr<ReplayGraph> graph)
    : graph_(std::move(graph)), ideal_(std::make_unique<IdealWeights>(*graph_)) {}
JobReplay::~JobReplay() = default;
JobReplay::JobReplay(JobReplay&&) noexcept = default;
JobReplay& JobReplay::operator=(JobReplay&&) noexcept = default;

Result<JobReplay> JobReplay::Open(SqliteDb& db, int64_t capture_id) {
  TRACEDB_ASSIGN(rows, ReadJobRows(db, capture_id, kRowsMax));
  StopWatch watch(db);
  JobReplay replay(std::make_unique<ReplayGraph>(ReplayGraph::Build(std::move(rows), &watch)));
  TRACEDB_TRY(watch.status());
  return replay;
}

Result<std::vector<ReplayedStep>> JobReplay::Steps(SqliteDb& db, std::string_view changes) {
  TRACEDB_ASSIGN(weights, ChangedWeights(db, *graph_, *ideal_, changes));
  StopWatch watch(db);
  const std::vector<int64_t> times = graph_->Replay(weights, &watch);
  TRACEDB_TRY(watch.status());
  return StepsOf(*graph_, times);
}

Result<std::deque<PathPiece>> JobReplay::Path(SqliteDb& db, std::string_view changes) {
  TRACEDB_ASSIGN(weights, ChangedWeights(db, *graph_, *ideal_, changes));
  StopWatch watch(db);
  const std::vector<int64_t> times = graph_->Replay(weights, &watch);
  TRACEDB_TRY(watch.status());
  return PathOf(*graph_, weights, times);
}

Result<std::deque<PathPiece>> JobReplay::CriticalPath(SqliteDb& db, std::string_view changes) {
  TRACEDB_ASSIGN(path, Path(db, changes));
  return WithOwners(db, std::move(path));
}

Result<std::deque<PathPiece>> JobReplay::PathByRank(SqliteDb& db, std::string_view changes) {
  TRACEDB_ASSIGN(path, Path(db, changes));
  std::deque<PathPiece> line;
  for (const PathPiece& piece : path) {
    const bool goes_on = !line.empty() && line.back().step == piece.step &&
                         line.back().rank == piece.rank && line.back().end_ns == piece.start_ns;
    if (goes_on) {
      line.back().end_ns = piece.end_ns;
    } else {
      line.push_back(piece);
    }
  }
  return line;
}

}  // namespace tracedb
