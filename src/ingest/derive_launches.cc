#include <algorithm>
#include <bit>
#include <limits>
#include <optional>
#include <string>

#include "ingest/derive_tables.h"

namespace tracedb {
namespace {

struct StepSpan {
  int64_t start_ns;
  int64_t end_ns;
  int64_t step;
  int64_t end_max_ns;  // of this one and all before it
};

class StepFinder {
 public:
  static Result<StepFinder> Read(SqliteDb& db, int64_t trace_id) {
    // A capture has a handful of steps; a hostile file may have millions.
    constexpr int64_t kStepsMax = 200'000;
    StepFinder finder;
    TRACEDB_ASSIGN(rows, db.Prepare("SELECT s.ts + t.base_ns, s.dur, s.step FROM step s "
                                    "JOIN track t ON t.id = s.track "
                                    "WHERE t.trace_id = ?1 AND s.dur > 0 ORDER BY 1 LIMIT ?2"));
    TRACEDB_TRY(rows.Bind(1, trace_id));
    TRACEDB_TRY(rows.Bind(2, kStepsMax));
    int64_t end_max = std::numeric_limits<int64_t>::min();
    for (;;) {
      TRACEDB_ASSIGN(row, rows.Step());
      if (!row) return finder;
      const int64_t start = rows.Int(0);
      end_max = std::max(end_max, start + rows.Int(1));
      finder.steps_.push_back({start, start + rows.Int(1), rows.Int(2), end_max});
    }
  }

  // The step in which an instant lies; of several the one that began last.
  std::optional<int64_t> At(int64_t ts_ns) const {
    auto after = std::upper_bound(
        steps_.begin(), steps_.end(), ts_ns,
        [](int64_t ts, const StepSpan& span) { return ts < span.start_ns; });
    while (after != steps_.begin()) {
      --after;
      if (after->end_max_ns <= ts_ns) return std::nullopt;
      if (after->end_ns > ts_ns) return after->step;
    }
    return std::nullopt;
  }

 private:
  std::vector<StepSpan> steps_;
};

struct Launch {
  int64_t slice_id = 0;
  int64_t ts_ns = 0;
};

// Correlation -> launch, for the correlations of one chunk of GPU activities. Open addressing.
class LaunchTable {
 public:
  explicit LaunchTable(size_t rows) : buckets_(std::bit_ceil(std::max<size_t>(rows * 2, 16))) {}

  void Want(int64_t correlation) { Find(correlation).wanted = true; }

  // Of several runtime calls with one correlation the first in time counts.
  void Offer(int64_t correlation, const Launch& launch) {
    Bucket& bucket = Find(correlation);
    if (!bucket.wanted) return;
    if (bucket.launch.slice_id == 0 || launch.ts_ns < bucket.launch.ts_ns) bucket.launch = launch;
  }

  // Nothing when no runtime call was offered.
  const Launch* Get(int64_t correlation) {
    const Bucket& bucket = Find(correlation);
    return bucket.wanted && bucket.launch.slice_id != 0 ? &bucket.launch : nullptr;
  }

 private:
  struct Bucket {
    int64_t correlation = 0;
    Launch launch;
    bool wanted = false;
  };

  Bucket& Find(int64_t correlation) {
    const size_t mask = buckets_.size() - 1;
    size_t at = (static_cast<uint64_t>(correlation) * 0x9e3779b97f4a7c15u >> 20) & mask;
    while (buckets_[at].wanted && buckets_[at].correlation != correlation) at = (at + 1) & mask;
    buckets_[at].correlation = correlation;
    return buckets_[at];
  }

  std::vector<Bucket> buckets_;
};

struct Activity {
  int64_t id;
  int64_t correlation;
  int64_t ts_ns;
  bool has_correlation;
};

Result<std::vector<Activity>> ReadChunk(SqliteStatement& rows, size_t rows_max) {
  std::vector<Activity> chunk;
  while (chunk.size() < rows_max) {
    TRACEDB_ASSIGN(row, rows.Step());
    if (!row) break;
    chunk.push_back({rows.Int(0), rows.Int(1), rows.Int(2), rows.Type(1) != SqlType::kNull});
  }
  return chunk;
}

Status OfferLaunches(SqliteDb& db, int64_t trace_id, LaunchTable& launches) {
  TRACEDB_ASSIGN(rows, db.Prepare("SELECT r.correlation, r.id, r.ts + t.base_ns "
                                  "FROM runtime_slice r CROSS JOIN track t ON t.id = r.track "
                                  "WHERE r.correlation IS NOT NULL AND t.trace_id = ?1"));
  TRACEDB_TRY(rows.Bind(1, trace_id));
  for (;;) {
    TRACEDB_ASSIGN(row, rows.Step());
    if (!row) return Done{};
    launches.Offer(rows.Int(0), {rows.Int(1), rows.Int(2)});
  }
}

Status StoreChunk(SqliteStatement& insert, const std::vector<Activity>& chunk,
                  LaunchTable& launches, const StepFinder& steps) {
  for (const Activity& activity : chunk) {
    const Launch* launch =
        activity.has_correlation ? launches.Get(activity.correlation) : nullptr;
    std::optional<int64_t> step;
    if (launch != nullptr) step = steps.At(launch->ts_ns);
    if (!step.has_value()) step = steps.At(activity.ts_ns);
    if (launch == nullptr && !step.has_value()) continue;
    TRACEDB_TRY(insert.Bind(1, activity.id));
    if (launch != nullptr) {
      TRACEDB_TRY(insert.Bind(2, launch->slice_id));
      TRACEDB_TRY(insert.Bind(3, launch->ts_ns));
    } else {
      TRACEDB_TRY(insert.BindNull(2));
      TRACEDB_TRY(insert.BindNull(3));
    }
    if (step.has_value()) {
      TRACEDB_TRY(insert.Bind(4, *step));
    } else {
      TRACEDB_TRY(insert.BindNull(4));
    }
    TRACEDB_ASSIGN(row, insert.Step());
    (void)row;
    insert.Reset();
  }
  return Done{};
}

}  // namespace

Status DeriveLaunches(SqliteDb& db, int64_t trace_id, const LoadLimits& limits) {
  TRACEDB_ASSIGN(steps, StepFinder::Read(db, trace_id));
  TRACEDB_ASSIGN(activities, db.Prepare("SELECT g.id, g.correlation, g.ts + t.base_ns "
                                        "FROM gpu_slice g CROSS JOIN track t ON t.id = g.track "
                                        "WHERE t.trace_id = ?1"));
  TRACEDB_TRY(activities.Bind(1, trace_id));
  TRACEDB_ASSIGN(insert, db.Prepare("INSERT INTO launch VALUES (?1, ?2, ?3, ?4)"));
  for (;;) {
    TRACEDB_ASSIGN(chunk, ReadChunk(activities, limits.launch_chunk_rows));
    if (chunk.empty()) return Done{};
    LaunchTable launches(chunk.size());
    for (const Activity& activity : chunk) {
      if (activity.has_correlation) launches.Want(activity.correlation);
    }
    TRACEDB_TRY(OfferLaunches(db, trace_id, launches));
    TRACEDB_TRY(StoreChunk(insert, chunk, launches, steps));
  }
}

}  // namespace tracedb
