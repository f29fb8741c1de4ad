#include "ranks/stalls/slice_windows.h"

#include <algorithm>
#include <limits>

namespace tracedb {
namespace {

SliceRow RowOf(const SqliteStatement& row) {
  return {row.Int(0), row.Int(1), row.Int(2), row.Int(3), static_cast<GpuKind>(row.Int(4))};
}

}  // namespace

Result<SliceWindows> SliceWindows::Open(SqliteDb& db, const std::string& select) {
  const std::string of_track = select + " AND track = ?1 AND ";
  TRACEDB_ASSIGN(earlier,
                 db.Prepare(of_track + "ts <= ?2 AND (ts < ?2 OR id < ?3) ORDER BY ts DESC "
                                       "LIMIT ?4"));
  TRACEDB_ASSIGN(later, db.Prepare(of_track + "ts >= ?2 AND ts < ?3 ORDER BY ts LIMIT ?4"));
  return SliceWindows(std::move(earlier), std::move(later));
}

// The window of a track, with all that begins before `end` from its first row on.
Result<SliceWindows::Window*> SliceWindows::WindowOf(int64_t track, int64_t end) {
  if (rows_ > kRowsMax) {
    windows_.clear();
    rows_ = 0;
  }
  const auto [at, is_new] = windows_.try_emplace(track);
  if (is_new) rows_ += kWindowRows;
  Window& window = at->second;
  bool of_use =
      !is_new && (window.from_first || (!window.rows.empty() && window.rows.front().ts < end));
  if (of_use && end > window.to) {
    TRACEDB_ASSIGN(is_near, LoadLater(track, window, end));
    of_use = is_near;
  }
  if (of_use) return &window;
  rows_ -= window.rows.size();
  window = {};
  window.to = end;
  return &window;
}

// What begins from the window's end until `end`. False where that is so much that it is not worth
// being read for what lies before it.
Result<bool> SliceWindows::LoadLater(int64_t track, Window& window, int64_t end) {
  constexpr int64_t kNear = 16 * kRowsAtATime;
  int64_t count = 0;
  later_.Reset();
  TRACEDB_TRY(later_.Bind(1, track));
  TRACEDB_TRY(later_.Bind(2, window.to));
  TRACEDB_TRY(later_.Bind(3, end));
  TRACEDB_TRY(later_.Bind(4, kNear));
  for (;; ++count) {
    TRACEDB_ASSIGN(row, later_.Step());
    if (!row) break;
    window.rows.push_back(RowOf(later_));
    ++rows_;
  }
  later_.Reset();
  window.to = end;
  return count < kNear;
}

// Some rows before the first; how many there were.
Result<size_t> SliceWindows::LoadEarlier(int64_t track, Window& window) {
  if (window.from_first) return size_t{0};
  constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();
  const bool any = !window.rows.empty();
  size_t count = 0;
  earlier_.Reset();
  TRACEDB_TRY(earlier_.Bind(1, track));
  TRACEDB_TRY(earlier_.Bind(2, any ? window.rows.front().ts : window.to));
  TRACEDB_TRY(earlier_.Bind(3, any ? window.rows.front().id : kLeast));
  TRACEDB_TRY(earlier_.Bind(4, kRowsAtATime));
  for (;; ++count) {
    TRACEDB_ASSIGN(row, earlier_.Step());
    if (!row) break;
    window.rows.push_front(RowOf(earlier_));
    ++rows_;
  }
  earlier_.Reset();
  window.from_first = count < static_cast<size_t>(kRowsAtATime);
  return count;
}

// Of the first row that does not begin before `end`.
size_t SliceWindows::PlaceOf(const Window& window, int64_t end) {
  const auto at = std::lower_bound(window.rows.begin(), window.rows.end(), end,
                                   [](const SliceRow& row, int64_t ts) { return row.ts < ts; });
  return static_cast<size_t>(at - window.rows.begin());
}

}  // namespace tracedb
