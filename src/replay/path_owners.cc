#include "replay/path_owners.h"

#include <algorithm>

#include "replay/host_owners.h"
#include "tracedb/schema/event_tables.h"

namespace tracedb {
namespace {

// The piece, cut where another slice holds the thread.
Status AddCut(HostOwners& owners, PathPiece piece, std::vector<PathPiece>& out) {
  TRACEDB_ASSIGN(owned, owners.Of(piece.track_id, piece.trace_id));
  auto at = std::partition_point(owned->begin(), owned->end(), [&](const OwnedStretch& stretch) {
    return stretch.range.end_ns <= piece.start_ns;
  });
  const int64_t end_ns = piece.end_ns;
  for (; at != owned->end() && at->range.start_ns < end_ns; ++at) {
    if (at->range.start_ns > piece.start_ns) {
      piece.end_ns = at->range.start_ns;
      out.push_back(piece);
      piece.start_ns = piece.end_ns;
    }
    PathPiece held = piece;
    held.end_ns = std::min(at->range.end_ns, end_ns);
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

Result<std::vector<PathPiece>> WithOwners(SqliteDb& db, const std::vector<PathPiece>& pieces) {
  TRACEDB_ASSIGN(owners, HostOwners::Open(db));
  std::vector<PathPiece> out;
  out.reserve(pieces.size());
  for (const PathPiece& piece : pieces) {
    if (piece.kind == PieceKind::kHost &&
        DifferenceNs(piece.end_ns, piece.start_ns) >= kLongSliceNs) {
      TRACEDB_TRY(AddCut(owners, piece, out));
    } else {
      out.push_back(piece);
    }
  }
  return out;
}

}  // namespace tracedb
