#include "extension/stream_rows.h"

#include <algorithm>
#include <limits>

namespace tracedb {
namespace {

constexpr size_t kStart = 0, kDuration = 1, kKind = 2, kName = 3;

// Those with a duration. A stream mostly is one track, whose rows an index has in order.
Result<SqliteStatement> ActivitiesOf(SqliteDb& db, int64_t stream_id) {
  TRACEDB_ASSIGN(tracks, db.Prepare("SELECT t.track_id, t.base_ns FROM stream_uses u JOIN tracks t "
                                    "ON t.trace_id = u.trace_id AND t.device = u.device "
                                    "AND t.stream = u.stream WHERE u.stream_id = ?1 LIMIT 2"));
  TRACEDB_TRY(tracks.Bind(1, stream_id));
  int64_t found = 0, track_id = 0, base_ns = 0;
  for (;;) {
    TRACEDB_ASSIGN(any, tracks.Step());
    if (!any) break;
    ++found;
    track_id = tracks.Int(0);
    base_ns = tracks.Int(1);
  }
  if (found <= 1) {
    TRACEDB_ASSIGN(rows, db.Prepare("SELECT ts + ?2, dur_ns, kind, name_id FROM activity_times "
                                    "WHERE track_id = ?1 AND dur_ns >= 0 ORDER BY ts"));
    TRACEDB_TRY(rows.Bind(1, track_id));
    TRACEDB_TRY(rows.Bind(2, base_ns));
    return rows;
  }
  TRACEDB_ASSIGN(rows, db.Prepare("SELECT g.ts + t.base_ns AS ts_ns, g.dur_ns, g.kind, g.name_id "
                                  "FROM stream_uses u JOIN tracks t ON t.trace_id = u.trace_id "
                                  "AND t.device = u.device AND t.stream = u.stream "
                                  "CROSS JOIN activity_times g ON g.track_id = t.track_id "
                                  "WHERE u.stream_id = ?1 AND g.dur_ns >= 0 ORDER BY ts_ns"));
  TRACEDB_TRY(rows.Bind(1, stream_id));
  return rows;
}

void Add(const SqliteStatement& row, int64_t start_ns, StreamPiece& piece) {
  const int64_t dur_ns = row.Int(kDuration);
  const int64_t name = row.Int(kName);
  const int64_t end_ns = SumNs(start_ns, dur_ns);
  piece.last_ns = piece.activities == 0 ? end_ns : std::max(piece.last_ns, end_ns);
  ++piece.activities;
  piece.sum_ns = SumNs(piece.sum_ns, dur_ns);
  if (dur_ns < piece.longest_ns || (dur_ns == piece.longest_ns && name >= piece.longest_name)) {
    return;
  }
  piece.longest_ns = dur_ns;
  piece.longest_name = name;
}

}  // namespace

Result<StreamPieces> StreamPieces::Open(SqliteDb& db, int64_t stream_id, PieceFrame frame) {
  TRACEDB_ASSIGN(activities, ActivitiesOf(db, stream_id));
  return StreamPieces(std::move(activities), frame);
}

Result<bool> StreamPieces::Next() {
  while (!is_read_) {
    TRACEDB_ASSIGN(any, activities_.Step());
    if (!any) {
      is_read_ = true;
      break;
    }
    const int64_t start_ns = activities_.Int(kStart);
    const int64_t kind = activities_.Int(kKind);
    const int64_t number = frame_.PieceOf(start_ns);
    StreamPiece& open = open_[static_cast<size_t>(kind) % open_.size()];
    const bool is_done = open.activities > 0 && (open.piece != number || open.kind != kind);
    if (is_done) row_ = open;
    if (is_done || open.activities == 0) {
      open = {};
      open.kind = kind;
      open.piece = number;
      open.first_ns = start_ns;
    }
    Add(activities_, start_ns, open);
    if (is_done) return true;
  }
  for (StreamPiece& open : open_) {
    if (open.activities == 0) continue;
    row_ = open;
    open.activities = 0;
    return true;
  }
  return false;
}

Result<StreamBusy> StreamBusy::Open(SqliteDb& db, int64_t stream_id, PieceFrame frame) {
  TRACEDB_ASSIGN(activities, ActivitiesOf(db, stream_id));
  return StreamBusy(std::move(activities), frame);
}

Result<bool> StreamBusy::Next() {
  for (;;) {
    if (left_.length() > 0) {
      const int64_t number = frame_.PieceOf(left_.start_ns);
      if (open_.busy_ns > 0 && open_.piece != number) {
        row_ = std::exchange(open_, {});
        return true;
      }
      const int64_t until_ns =
          std::min(left_.end_ns, SumNs(left_.start_ns, frame_.RestNs(left_.start_ns)));
      open_.piece = number;
      open_.busy_ns = SumNs(open_.busy_ns, until_ns - left_.start_ns);
      left_.start_ns = until_ns;
      continue;
    }
    if (!is_read_) {
      TRACEDB_ASSIGN(any, activities_.Step());
      if (any) {
        const int64_t start_ns = activities_.Int(kStart);
        left_ = {any_ ? std::max(start_ns, free_ns_) : start_ns,
                 SumNs(start_ns, activities_.Int(kDuration))};
        free_ns_ = any_ ? std::max(free_ns_, left_.end_ns) : left_.end_ns;
        any_ = true;
        continue;
      }
      is_read_ = true;
    }
    if (open_.busy_ns == 0) return false;
    row_ = std::exchange(open_, {});
    return true;
  }
}

}  // namespace tracedb
