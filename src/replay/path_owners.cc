#include "replay/path_owners.h"

#include <algorithm>

#include "tracedb/base/interval.h"
#include "tracedb/ranks/stalls/host_watch.h"
#include "tracedb/schema/event_tables.h"
#include "tracedb/schema/rank_clock.h"

namespace tracedb {
namespace {

constexpr int kCutsMax = 64;  // of one stretch

class OwnerFinder {
 public:
  OwnerFinder(HostWatch watch, RankClocks clocks)
      : watch_(std::move(watch)), clocks_(std::move(clocks)) {}

  // From left to right: what lies before the slice that was found is looked at first.
  Status Add(const PathPiece& piece, int cuts, std::vector<PathPiece>& out) {
    if (piece.end_ns - piece.start_ns < kLongSliceNs || cuts == 0) {
      out.push_back(piece);
      return Done{};
    }
    const RankClock clock = clocks_.Of(piece.trace_id);
    const Interval own{clock.Own(piece.start_ns), clock.Own(piece.end_ns)};
    TRACEDB_ASSIGN(story, watch_.LookOn(piece.track_id, own));
    const int64_t start_ns =
        std::clamp(clock.Aligned(story.range.start_ns), piece.start_ns, piece.end_ns);
    const int64_t end_ns = std::clamp(clock.Aligned(story.range.end_ns), start_ns, piece.end_ns);
    if (story.slice_id == 0 || start_ns == end_ns) {
      out.push_back(piece);
      return Done{};
    }
    PathPiece part = piece;
    part.end_ns = start_ns;
    if (part.end_ns > part.start_ns) TRACEDB_TRY(Add(part, cuts - 1, out));
    part.start_ns = start_ns;
    part.end_ns = end_ns;
    part.held_by = story.slice_id;
    out.push_back(part);
    part.held_by = 0;
    part.start_ns = end_ns;
    part.end_ns = piece.end_ns;
    return part.end_ns > part.start_ns ? Add(part, cuts - 1, out) : Status(Done{});
  }

 private:
  HostWatch watch_;
  RankClocks clocks_;
};

}  // namespace

Result<std::vector<PathPiece>> WithOwners(SqliteDb& db, std::vector<PathPiece> pieces) {
  TRACEDB_ASSIGN(watch, HostWatch::Open(db));
  TRACEDB_ASSIGN(clocks, RankClocks::Read(db));
  OwnerFinder finder(std::move(watch), std::move(clocks));
  std::vector<PathPiece> out;
  out.reserve(pieces.size());
  for (const PathPiece& piece : pieces) {
    if (piece.kind == PieceKind::kHost) {
      TRACEDB_TRY(finder.Add(piece, kCutsMax, out));
    } else {
      out.push_back(piece);
    }
  }
  return out;
}

}  // namespace tracedb
