#include "replay/path_owners.h"

#include <algorithm>
#include <map>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "tracedb/base/interval.h"
#include "tracedb/schema/event_tables.h"
#include "tracedb/schema/rank_clock.h"

namespace tracedb {
namespace {

struct LongSlice {
  Interval range;
  int64_t id;
  int64_t event_name;
  bool is_annotation;
  int parent = -1;
};

// A stretch in which one slice is the innermost long one.
struct Owned {
  Interval range;
  int64_t slice_id;
  int64_t event_name;
};

class OwnerFinder {
 public:
  static Result<OwnerFinder> Open(SqliteDb& db) {
    TRACEDB_ASSIGN(clocks, RankClocks::Read(db));
    OwnerFinder finder(db, std::move(clocks));
    TRACEDB_ASSIGN(names, db.Prepare("SELECT id, name GLOB 'ProfilerStep#*' FROM _event_name "
                                     "WHERE category = 'user_annotation'"));
    for (;;) {
      TRACEDB_ASSIGN(any, names.Step());
      if (!any) return finder;
      (names.Int(1) != 0 ? finder.steps_ : finder.annotations_).insert(names.Int(0));
    }
  }

  // The piece, cut where another slice holds the thread.
  Status Add(PathPiece piece, std::vector<PathPiece>& out) {
    TRACEDB_ASSIGN(owned, OwnedOf(piece));
    auto at = std::partition_point(owned->begin(), owned->end(), [&](const Owned& stretch) {
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

 private:
  OwnerFinder(SqliteDb& db, RankClocks clocks) : db_(&db), clocks_(std::move(clocks)) {}

  Result<const std::vector<Owned>*> OwnedOf(const PathPiece& piece) {
    const auto known = owned_.find(piece.track_id);
    if (known != owned_.end()) return &known->second;
    TRACEDB_ASSIGN(slices, Read(piece.track_id, clocks_.Of(piece.trace_id)));
    return &owned_.emplace(piece.track_id, Flatten(slices)).first->second;
  }

  Result<std::vector<LongSlice>> Read(int64_t track_id, const RankClock& clock) const {
    std::vector<LongSlice> slices;
    for (const EventTable table : kLongSliceTables) {
      const std::string name(EventTableName(table));
      TRACEDB_ASSIGN(rows, db_->Prepare("SELECT s.id, s.ts + t.base_ns, s.dur, s.event_name FROM " +
                                        name + " s INDEXED BY " + name +
                                        "_long JOIN _track t ON t.id = s.track "
                                        "WHERE s.dur >= " +
                                        std::to_string(kLongSliceNs) +
                                        " AND s.track = ?1 AND s.id NOT IN (SELECT id FROM "
                                        "_impossible_time)"));
      TRACEDB_TRY(rows.Bind(1, track_id));
      for (;;) {
        TRACEDB_ASSIGN(any, rows.Step());
        if (!any) break;
        if (steps_.contains(rows.Int(3))) continue;
        const Interval range{clock.Aligned(rows.Int(1)),
                             clock.Aligned(SumNs(rows.Int(1), rows.Int(2)))};
        slices.push_back({range, rows.Int(0), rows.Int(3), annotations_.contains(rows.Int(3))});
      }
    }
    std::sort(slices.begin(), slices.end(), [](const LongSlice& a, const LongSlice& b) {
      if (a.range.start_ns != b.range.start_ns) return a.range.start_ns < b.range.start_ns;
      return a.range.end_ns != b.range.end_ns ? a.range.end_ns > b.range.end_ns : a.id < b.id;
    });
    return slices;
  }

  // Slices that are open, outermost first; what reaches beyond the one around it ends with it.
  static std::vector<Owned> Flatten(std::vector<LongSlice>& slices) {
    std::vector<Owned> owned;
    std::vector<int> open;
    int64_t now_ns = std::numeric_limits<int64_t>::min();
    const auto until = [&](int64_t end_ns) {
      while (!open.empty()) {
        const LongSlice& inner = slices[static_cast<size_t>(open.back())];
        const int64_t to_ns = std::min(end_ns, inner.range.end_ns);
        const LongSlice& named = Named(slices, inner);
        if (to_ns > now_ns) owned.push_back({{now_ns, to_ns}, named.id, named.event_name});
        now_ns = std::max(now_ns, to_ns);
        if (inner.range.end_ns > end_ns) break;
        open.pop_back();
      }
      now_ns = end_ns;
    };
    for (size_t i = 0; i < slices.size(); ++i) {
      until(slices[i].range.start_ns);
      slices[i].parent = open.empty() ? -1 : open.back();
      if (!open.empty()) {
        const LongSlice& around = slices[static_cast<size_t>(open.back())];
        slices[i].range.end_ns = std::min(slices[i].range.end_ns, around.range.end_ns);
      }
      open.push_back(static_cast<int>(i));
    }
    until(std::numeric_limits<int64_t>::max());
    return owned;
  }

  // Around a slice that is nearly as long an annotation says more to a person.
  static const LongSlice& Named(const std::vector<LongSlice>& slices, const LongSlice& inner) {
    const int64_t wide_ns = inner.range.length() + inner.range.length() / 4;
    if (inner.is_annotation) return inner;
    for (int at = inner.parent; at >= 0; at = slices[static_cast<size_t>(at)].parent) {
      const LongSlice& around = slices[static_cast<size_t>(at)];
      if (around.range.length() > wide_ns) break;
      if (around.is_annotation) return around;
    }
    return inner;
  }

  SqliteDb* db_;
  RankClocks clocks_;
  std::unordered_set<int64_t> annotations_, steps_;        // event_name
  std::unordered_map<int64_t, std::vector<Owned>> owned_;  // by track
};

}  // namespace

Result<std::vector<PathPiece>> WithOwners(SqliteDb& db, const std::vector<PathPiece>& pieces) {
  TRACEDB_ASSIGN(finder, OwnerFinder::Open(db));
  std::vector<PathPiece> out;
  out.reserve(pieces.size());
  for (const PathPiece& piece : pieces) {
    if (piece.kind == PieceKind::kHost && piece.end_ns - piece.start_ns >= kLongSliceNs) {
      TRACEDB_TRY(finder.Add(piece, out));
    } else {
      out.push_back(piece);
    }
  }
  return out;
}

}  // namespace tracedb
