#include "tracedb/replay/job_replay.h"

#include <array>
#include <utility>

#include "replay/changes/change_reader.h"
#include "replay/changes/replay_changes.h"
#include "replay/graph/edge_times.h"
#include "replay/graph/host_owners.h"
#include "replay/graph/job_rows.h"
#include "replay/graph/replay_graph.h"
#include "replay/graph/stop_watch.h"
#include "replay/graph/summary_rows.h"
#include "replay/ideal_ranks.h"
#include "replay/path_owners.h"
#include "replay/replay_steps.h"

namespace tracedb {
namespace {

// Of all rows together: 200 bytes each are 1.6 GB.
constexpr size_t kRowsMax = 8'000'000;
static_assert(kRowsMax < size_t{1} << 28);  // Node::owner

// What follows on another piece of the same rank becomes part of it.
void JoinOfOneRank(std::vector<PathPiece>& pieces) {
  size_t kept = 0;
  for (size_t i = 1; i < pieces.size(); ++i) {
    if (pieces[kept].rank == pieces[i].rank && pieces[kept].end_ns == pieces[i].start_ns) {
      pieces[kept].end_ns = pieces[i].end_ns;
    } else {
      pieces[++kept] = pieces[i];
    }
  }
  if (!pieces.empty()) pieces.resize(kept + 1);
}

// Buffers and statements are used again by the next question, so there is one at a time.
class Turn {
 public:
  static Result<Turn> Take(bool& is_busy) {
    if (!is_busy) return Turn(is_busy);
    // SQLite passes on no more than this text.
    return Error{ErrorKind::kQuery,
                 "a replay is asked for while it is being worked out: drop the view of this "
                 "database that names replay_steps, replay_path or replay_line",
                 ""};
  }
  Turn(Turn&& other) noexcept : is_busy_(std::exchange(other.is_busy_, nullptr)) {}
  Turn& operator=(Turn&&) = delete;
  ~Turn() {
    if (is_busy_ != nullptr) *is_busy_ = false;
  }

 private:
  explicit Turn(bool& is_busy) : is_busy_(&is_busy) { is_busy = true; }
  bool* is_busy_;
};

}  // namespace

std::string_view PieceKindText(PieceKind kind) {
  constexpr std::array<std::string_view, 12> kTexts = {
      "host",    "recorder", "launch", "compute", "communication", "memory",
      "waiting", "transfer", "gap",    "lag",     "unrecorded",    "own"};
  return kTexts[static_cast<size_t>(kind)];
}

CriticalPath::CriticalPath(std::unique_ptr<StepPaths> paths, HostOwners* owners, bool* is_busy,
                           PathDetail detail)
    : paths_(std::move(paths)), owners_(owners), is_busy_(is_busy), detail_(detail) {}
CriticalPath::~CriticalPath() = default;
CriticalPath::CriticalPath(CriticalPath&&) noexcept = default;
CriticalPath& CriticalPath::operator=(CriticalPath&&) noexcept = default;

Result<bool> CriticalPath::Next(SqliteDb& db, std::vector<PathPiece>& pieces) {
  TRACEDB_ASSIGN(turn, Turn::Take(*is_busy_));
  while (paths_->Next(pieces)) {
    if (pieces.empty()) continue;
    if (detail_ == PathDetail::kRanks) {
      JoinOfOneRank(pieces);
    } else if (owners_ != nullptr) {
      TRACEDB_ASSIGN(owned, WithOwners(db, *owners_, pieces));
      pieces = std::move(owned);
    }
    return true;
  }
  return false;
}

JobReplay::JobReplay(std::unique_ptr<ReplayGraph> graph, std::unique_ptr<HostOwners> owners)
    : graph_(std::move(graph)),
      owners_(std::move(owners)),
      peers_(std::make_unique<PeersOfGraph>(*graph_)),
      steps_(std::make_unique<StepNodes>(*graph_)),
      ideal_ranks_(std::make_unique<IdealRanks>(*graph_, *steps_, peers_->ideal)),
      weights_(std::make_unique<EdgeTimes>()) {}
JobReplay::~JobReplay() = default;
JobReplay::JobReplay(JobReplay&&) noexcept = default;
JobReplay& JobReplay::operator=(JobReplay&&) noexcept = default;

Result<JobReplay> JobReplay::Open(SqliteDb& db, int64_t capture_id) {
  TRACEDB_ASSIGN(has_summaries_alone, HasSummariesAlone(db));
  TRACEDB_ASSIGN(rows, has_summaries_alone ? ReadSummaryRows(db, capture_id, kRowsMax)
                                           : ReadJobRows(db, capture_id, kRowsMax));
  TRACEDB_ASSIGN(owners, HostOwners::Open(db));
  StopWatch watch(db);
  auto graph = std::make_unique<ReplayGraph>(
      has_summaries_alone ? ReplayGraph::BuildOfCollectives(std::move(rows), &watch)
                          : ReplayGraph::Build(std::move(rows), &watch));
  TRACEDB_TRY(watch.status());
  return JobReplay(std::move(graph), std::make_unique<HostOwners>(std::move(owners)));
}

Status JobReplay::Replay(SqliteDb& db, const std::vector<Change>& changes) {
  TRACEDB_TRY(ChangeWeights(db, *graph_, *peers_, *owners_, changes, *weights_));
  StopWatch watch(db);
  graph_->Replay(*weights_, &watch, times_);
  return watch.status();
}

Result<std::vector<ReplayedStep>> JobReplay::Steps(SqliteDb& db, std::string_view changes) {
  TRACEDB_ASSIGN(turn, Turn::Take(*is_busy_));
  TRACEDB_ASSIGN(read, ReadChanges(db, changes));
  TRACEDB_ASSIGN(found, ideal_ranks_->Steps(db, read));
  if (found.has_value()) return *std::move(found);
  TRACEDB_TRY(Replay(db, read));
  return steps_->Steps(times_);
}

Result<CriticalPath> JobReplay::Path(SqliteDb& db, std::string_view changes, PathDetail detail) {
  TRACEDB_ASSIGN(turn, Turn::Take(*is_busy_));
  TRACEDB_ASSIGN(read, ReadChanges(db, changes));
  TRACEDB_TRY(Replay(db, read));
  // Of a gathered database few of the slices are known that a host was in.
  HostOwners* const owners = graph_->rows().is_of_summaries ? nullptr : owners_.get();
  return CriticalPath(std::make_unique<StepPaths>(*graph_, *steps_, std::exchange(*weights_, {}),
                                                  std::move(times_)),
                      owners, is_busy_.get(), detail);
}

}  // namespace tracedb
