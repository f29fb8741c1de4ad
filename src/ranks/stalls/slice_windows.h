// Slices of tracks, last first from a moment on, for looks that lie close together: what one look
// has read is kept for the next. Sixteen looks at stretches of 40 ms that follow one another read
// each slice once, not sixteen times.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <utility>

#include "tracedb/base/result.h"
#include "tracedb/base/sqlite_db.h"
#include "tracedb/schema/event_tables.h"

namespace tracedb {

struct SliceRow {
  int64_t id = 0;
  int64_t ts = 0;  // ns, by the trace's own origin, as stored
  int64_t dur = 0;
  int64_t event_name = 0;
  GpuKind kind = GpuKind::kCompute;  // of GPU activities
};

// Of one table. About kRowsMax rows are kept, 1.25 MiB, of however many tracks.
class SliceWindows {
 public:
  // `select`: "SELECT id, ts, dur, event_name, kind FROM ... WHERE ...", to which conditions on
  // track, ts and id are added; there is an index by track and ts.
  static Result<SliceWindows> Open(SqliteDb& db, const std::string& select);

  // Calls `take` for the slices of a track that begin before `end`, those that begin last first,
  // until it returns false.
  template <typename Take>
  Status ForEachBefore(int64_t track, int64_t end, Take take) {
    TRACEDB_ASSIGN(window, WindowOf(track, end));
    size_t at = PlaceOf(*window, end);
    for (;;) {
      if (at == 0) {
        TRACEDB_ASSIGN(count, LoadEarlier(track, *window));
        if (count == 0) return Done{};
        at = count;
      }
      --at;
      if (!take(window->rows[at])) return Done{};
    }
  }

 private:
  // All slices of a track from rows.front() on that begin before `to`.
  struct Window {
    std::deque<SliceRow> rows;  // by ts and id
    int64_t to = 0;
    bool from_first = false;  // none begins before rows.front()
  };

  static constexpr size_t kRowsMax = size_t{1} << 15;
  static constexpr size_t kWindowRows = 32;  // as many bytes as an empty window takes
  static constexpr int64_t kRowsAtATime = 512;

  SliceWindows(SqliteStatement earlier, SqliteStatement later)
      : earlier_(std::move(earlier)), later_(std::move(later)) {}
  Result<Window*> WindowOf(int64_t track, int64_t end);
  Result<size_t> LoadEarlier(int64_t track, Window& window);
  Result<bool> LoadLater(int64_t track, Window& window, int64_t end);
  static size_t PlaceOf(const Window& window, int64_t end);

  SqliteStatement earlier_, later_;
  std::map<int64_t, Window> windows_;  // by track
  size_t rows_ = 0;                    // of all windows, and kWindowRows for each
};

}  // namespace tracedb
