#include "replay/path_owners.h"

#include <algorithm>

#include "tracedb/schema/event_tables.h"

namespace tracedb {
namespace {

// The piece, cut where another slice holds the thread: by the recorded times of both.
Status AddCut(SqliteDb& db, HostOwners& owners, PathPiece piece, std::vector<PathPiece>& out) {
  TRACEDB_ASSIGN(owned, owners.Of(db, piece.track_id, piece.trace_id));
  const int64_t moved_ns = piece.moved_ns;
  const int64_t start_ns = DifferenceNs(piece.start_ns, moved_ns);
  auto at = std::partition_point(owned->begin(), owned->end(), [&](const OwnedStretch& stretch) {
    return stretch.range.end_ns <= start_ns;
  });
  const int64_t end_ns = piece.end_ns;
  for (; at != owned->end(); ++at) {
    const int64_t held_ns = SumNs(at->range.start_ns, moved_ns);
    if (held_ns >= end_ns) break;
    if (held_ns > piece.start_ns) {
      piece.end_ns = held_ns;
      out.push_back(piece);
      piece.start_ns = piece.end_ns;
    }
    PathPiece held = piece;
    held.end_ns = std::min(SumNs(at->range.end_ns, moved_ns), end_ns);
    held.held_by = at->slice_id;
    held.held_name = at->event_name;
    out.push_back(held);
    piece.start_ns = held.end_ns;
  }
  piece.end_ns = end_ns;
  if (piece.start_ns < piece.end_ns) out.push_back(piece);
  return Done{};
}

}  // namespace

Result<std::vector<PathPiece>> WithOwners(SqliteDb& db, HostOwners& owners,
                                          const std::vector<PathPiece>& pieces) {
  std::vector<PathPiece> out;
  out.reserve(pieces.size());
  for (const PathPiece& piece : pieces) {
    if (piece.kind == PieceKind::kHost && !piece.is_changed &&
        DifferenceNs(piece.end_ns, piece.start_ns) >= kLongSliceNs) {
      TRACEDB_TRY(AddCut(db, owners, piece, out));
    } else {
      out.push_back(piece);
    }
  }
  return out;
}

}  // namespace tracedb
