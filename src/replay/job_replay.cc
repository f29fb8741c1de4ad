#include "tracedb/replay/job_replay.h"

#include <array>
#include <utility>

#include "replay/ideal_weights.h"
#include "replay/job_rows.h"
#include "replay/path_owners.h"
#include "replay/replay_changes.h"
#include "replay/replay_graph.h"
#include "replay/replay_steps.h"

namespace tracedb {
namespace {

// Of all rows together: 250 bytes each are 2 GB.
constexpr size_t kRowsMax = 8'000'000;

}  // namespace

std::string_view PieceKindText(PieceKind kind) {
  constexpr std::array<std::string_view, 10> kTexts = {
      "host",    "launch",   "compute", "communication", "memory",
      "waiting", "transfer", "gap",     "lag",           "unrecorded"};
  return kTexts[static_cast<size_t>(kind)];
}

JobReplay::JobReplay(std::unique_ptr<ReplayGraph> graph)
    : graph_(std::move(graph)), ideal_(std::make_unique<IdealWeights>(*graph_)) {}
JobReplay::~JobReplay() = default;
JobReplay::JobReplay(JobReplay&&) noexcept = default;
JobReplay& JobReplay::operator=(JobReplay&&) noexcept = default;

Result<JobReplay> JobReplay::Open(SqliteDb& db, int64_t capture_id) {
  TRACEDB_ASSIGN(rows, ReadJobRows(db, capture_id, kRowsMax));
  return JobReplay(std::make_unique<ReplayGraph>(ReplayGraph::Build(std::move(rows))));
}

Result<std::vector<ReplayedStep>> JobReplay::Steps(SqliteDb& db, std::string_view changes) {
  TRACEDB_ASSIGN(weights, ChangedWeights(db, *graph_, *ideal_, changes));
  return StepsOf(*graph_, graph_->Replay(weights));
}

Result<std::vector<PathPiece>> JobReplay::CriticalPath(SqliteDb& db, std::string_view changes) {
  TRACEDB_ASSIGN(weights, ChangedWeights(db, *graph_, *ideal_, changes));
  return WithOwners(db, PathOf(*graph_, weights, graph_->Replay(weights)));
}

}  // namespace tracedb
