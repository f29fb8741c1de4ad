// What a job would take without a cause: a capture as a graph of all its ranks, replayed with
// changes. src/replay/MODEL.md says what the graph is; nothing here is stored.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tracedb/base/interval.h"
#include "tracedb/base/result.h"
#include "tracedb/base/sqlite_db.h"

namespace tracedb {

struct ReplayedStep {
  std::optional<int64_t> step;  // none: the capture has no steps, and is taken as one
  int64_t start_ns = 0;         // end of the step before
  int64_t end_ns = 0;           // the last of its host's and GPUs' work on any rank
  int64_t duration_ns() const { return DifferenceNs(end_ns, start_ns); }
};

enum class PieceKind {
  kHost,
  kRecorder,
  kLaunch,
  kCompute,
  kCommunication,
  kMemory,
  kWaiting,
  kTransfer,
  kGap,
  kLag,
  kUnrecorded,
  kOwn,  // of collectives alone: a rank by itself, its host and its GPU
};
std::string_view PieceKindText(PieceKind kind);

// A stretch of the critical path, with one owner.
struct PathPiece {
  std::optional<int64_t> step;
  int64_t start_ns = 0;  // by the aligned clocks
  int64_t end_ns = 0;
  PieceKind kind = PieceKind::kHost;
  bool is_changed = false;  // in its length, by a change
  int64_t trace_id = 0;
  int64_t rank = 0;
  int64_t slice_id = 0;   // the GPU activity, or the host's call that the stretch leads to
  int64_t track_id = 0;   // of the host; 0: a GPU's
  int64_t launch_of = 0;  // a GPU activity that the host's call launches; 0: none
  int64_t held_by = 0;    // a slice of the host that fills the stretch; 0: none is known
  int64_t held_name = 0;  // its name, as _event_name has it
  int64_t moved_ns = 0;   // how much later than recorded
};

struct Change;
class EdgeTimes;
class HostOwners;
class IdealRanks;
struct PeersOfGraph;
class ReplayGraph;
class StepNodes;
class StepPaths;

// What a path is given out in: its stretches with their owners, or of what lies on one rank of a
// step without a gap one piece, with step, rank and times alone.
enum class PathDetail { kStretches, kRanks };

// The critical path of each step, in the order of time. One step's is made at a time: all of them
// together are larger than the graph. The replay that it is of must outlive it.
class CriticalPath {
 public:
  ~CriticalPath();
  CriticalPath(CriticalPath&&) noexcept;
  CriticalPath& operator=(CriticalPath&&) noexcept;

  // The pieces of the next step that has any; false: there is none, and `pieces` is empty.
  Result<bool> Next(SqliteDb& db, std::vector<PathPiece>& pieces);

 private:
  friend class JobReplay;
  CriticalPath(std::unique_ptr<StepPaths> paths, HostOwners* owners, bool* is_busy,
               PathDetail detail);
  std::unique_ptr<StepPaths> paths_;
  HostOwners* owners_;
  bool* is_busy_;
  PathDetail detail_;
};

class JobReplay {
 public:
  // Takes memory by the rows of the capture: about 270 bytes a GPU activity, 20 more once it has
  // been asked for lateness. For ideals of many ranks up to 64 MiB more, and weights of all edges
  // once more. kQuery where the rows are too many.
  static Result<JobReplay> Open(SqliteDb& db, int64_t capture_id);
  ~JobReplay();
  JobReplay(JobReplay&&) noexcept;
  JobReplay& operator=(JobReplay&&) noexcept;

  // On the database that it was opened on; kQuery from within another question or step of a path,
  // which a view of the database may ask for. `changes` is a JSON array of objects, each a change
  // (replay_changes.h); "[]" or "": none.
  Result<std::vector<ReplayedStep>> Steps(SqliteDb& db, std::string_view changes);
  Result<CriticalPath> Path(SqliteDb& db, std::string_view changes, PathDetail detail);

 private:
  JobReplay(std::unique_ptr<ReplayGraph> graph, std::unique_ptr<HostOwners> owners);
  Status Replay(SqliteDb& db, const std::vector<Change>& changes);
  std::unique_ptr<ReplayGraph> graph_;
  std::unique_ptr<HostOwners> owners_;
  std::unique_ptr<PeersOfGraph> peers_;
  std::unique_ptr<StepNodes> steps_;
  std::unique_ptr<IdealRanks> ideal_ranks_;
  std::unique_ptr<EdgeTimes> weights_;  // of the last replay; a path takes them with it
  std::vector<int64_t> times_;          // of its nodes, as well
  std::unique_ptr<bool> is_busy_ = std::make_unique<bool>(false);
};

}  // namespace tracedb
