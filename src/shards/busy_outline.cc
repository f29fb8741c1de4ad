#include "shards/busy_outline.h"

#include <algorithm>
#include <array>
#include <optional>

#include "tracedb/base/interval.h"

namespace tracedb {
namespace {

constexpr int64_t kCommunicationAlone = 2;
constexpr size_t kKinds = 8;

constexpr const char* kTables =
    "CREATE TEMP TABLE IF NOT EXISTS outline_device (number INTEGER PRIMARY KEY, trace_id INTEGER, "
    "device);"
    "CREATE TEMP TABLE IF NOT EXISTS outline_moment (number INTEGER, at_ns INTEGER, "
    "PRIMARY KEY (number, at_ns)) WITHOUT ROWID;"
    "CREATE TEMP TABLE IF NOT EXISTS busy_outline (number INTEGER, ts_ns INTEGER, dur_ns INTEGER, "
    "kinds INTEGER);"
    "DELETE FROM temp.outline_device; DELETE FROM temp.outline_moment;"
    "DELETE FROM temp.busy_outline";

constexpr const char* kDevices =
    "INSERT INTO temp.outline_device (trace_id, device) SELECT ?1, device FROM _busy_segment "
    "WHERE trace_id = ?1 GROUP BY device";

constexpr const char* kMoments =
    "INSERT OR IGNORE INTO temp.outline_moment "
    "SELECT d.number, iif(e.is_end, m.end_ns, m.start_ns) FROM ("
    "  SELECT t.device, p.ts_ns AS start_ns, p.ts_ns + ifnull(p.dur_ns, 0) AS end_ns "
    "  FROM _collective_part p JOIN _gpu_slice s ON s.id = p.id JOIN _track t ON t.id = s.track "
    "  WHERE p.id BETWEEN ?2 AND ?3 "
    "  UNION ALL SELECT device, start_ns, end_ns FROM temp.step_last WHERE trace_id = ?1) m "
    "CROSS JOIN (SELECT 0 AS is_end UNION ALL SELECT 1) e "
    "JOIN temp.outline_device d ON d.trace_id = ?1 AND d.device IS m.device "
    "WHERE typeof(m.start_ns) = 'integer' AND typeof(m.end_ns) = 'integer'";

// Stretches of one device, cut at moments, into sums between moments.
class Outline {
 public:
  Outline(SqliteStatement& row, int64_t number) : row_(row), number_(number) {}

  Status AddStretch(int64_t start_ns, int64_t end_ns, int64_t kinds) {
    CloseStretch();
    if (kinds != kCommunicationAlone) {
      if (!region_start_ns_.has_value()) region_start_ns_ = start_ns;
      open_ = {start_ns, end_ns, static_cast<size_t>(kinds) % kKinds};
      return Done{};
    }
    TRACEDB_TRY(EndRegion(start_ns));
    TRACEDB_TRY(Store(start_ns, DifferenceNs(end_ns, start_ns), kinds));
    region_start_ns_ = end_ns;
    return Done{};
  }

  // Not before the start of the stretch that came last.
  Status AddMoment(int64_t at_ns) {
    if (open_.has_value() && at_ns < open_->end_ns) {
      AddUntil(at_ns);
      open_->start_ns = at_ns;
    } else {
      CloseStretch();
    }
    return EndRegion(at_ns);
  }

  Status End() {
    CloseStretch();
    return EndRegion(0);
  }

 private:
  struct Stretch {
    int64_t start_ns = 0, end_ns = 0;
    size_t kinds = 0;
  };

  void CloseStretch() {
    if (open_.has_value()) AddUntil(open_->end_ns);
    open_.reset();
  }

  void AddUntil(int64_t at_ns) {
    int64_t& sum_ns = sums_[open_->kinds];
    sum_ns = SumNs(sum_ns, DifferenceNs(at_ns, open_->start_ns));
  }

  Status EndRegion(int64_t at_ns) {
    int64_t ns = region_start_ns_.value_or(at_ns);
    for (size_t kinds = 0; kinds < kKinds; ++kinds) {
      if (sums_[kinds] <= 0) continue;
      TRACEDB_TRY(Store(ns, sums_[kinds], static_cast<int64_t>(kinds)));
      ns = SumNs(ns, sums_[kinds]);
      sums_[kinds] = 0;
    }
    region_start_ns_ = std::max(at_ns, region_start_ns_.value_or(at_ns));
    return Done{};
  }

  Status Store(int64_t ts_ns, int64_t dur_ns, int64_t kinds) {
    TRACEDB_TRY(row_.Bind(1, number_));
    TRACEDB_TRY(row_.Bind(2, ts_ns));
    TRACEDB_TRY(row_.Bind(3, dur_ns));
    TRACEDB_TRY(row_.Bind(4, kinds));
    return row_.Run();
  }

  SqliteStatement& row_;
  int64_t number_;
  std::optional<int64_t> region_start_ns_;
  std::optional<Stretch> open_;
  std::array<int64_t, kKinds> sums_{};
};

Status MakeOfDevice(SqliteDb& db, int64_t trace_id, int64_t number, SqliteStatement& row) {
  TRACEDB_ASSIGN(stretches, db.Prepare("SELECT ts_ns, dur_ns, kinds FROM _busy_segment WHERE "
                                       "trace_id = ?1 AND device IS (SELECT device FROM "
                                       "temp.outline_device WHERE number = ?2) ORDER BY ts_ns"));
  TRACEDB_TRY(stretches.Bind(1, trace_id));
  TRACEDB_TRY(stretches.Bind(2, number));
  TRACEDB_ASSIGN(moments, db.Prepare("SELECT at_ns FROM temp.outline_moment WHERE number = ?1 "
                                     "ORDER BY at_ns"));
  TRACEDB_TRY(moments.Bind(1, number));
  Outline outline(row, number);
  TRACEDB_ASSIGN(any_moment, moments.Step());
  for (;;) {
    TRACEDB_ASSIGN(any, stretches.Step());
    if (!any) break;
    const int64_t start_ns = stretches.Int(0);
    while (any_moment && moments.Int(0) < start_ns) {
      TRACEDB_TRY(outline.AddMoment(moments.Int(0)));
      TRACEDB_ASSIGN(next, moments.Step());
      any_moment = next;
    }
    TRACEDB_TRY(outline.AddStretch(start_ns, SumNs(start_ns, stretches.Int(1)), stretches.Int(2)));
  }
  while (any_moment) {
    TRACEDB_TRY(outline.AddMoment(moments.Int(0)));
    TRACEDB_ASSIGN(next, moments.Step());
    any_moment = next;
  }
  return outline.End();
}

}  // namespace

Status ClearBusyOutlines(SqliteDb& db) { return db.Execute(kTables); }

Status MakeBusyOutline(SqliteDb& db, int64_t trace_id, int64_t first_row, int64_t last_row) {
  TRACEDB_ASSIGN(devices, db.Prepare(kDevices));
  TRACEDB_TRY(devices.Bind(1, trace_id));
  TRACEDB_TRY(devices.Run());
  TRACEDB_ASSIGN(moments, db.Prepare(kMoments));
  TRACEDB_TRY(moments.Bind(1, trace_id));
  TRACEDB_TRY(moments.Bind(2, first_row));
  TRACEDB_TRY(moments.Bind(3, last_row));
  TRACEDB_TRY(moments.Run());
  TRACEDB_ASSIGN(row, db.Prepare("INSERT INTO temp.busy_outline VALUES (?1, ?2, ?3, ?4)"));
  TRACEDB_ASSIGN(numbers, db.Prepare("SELECT number FROM temp.outline_device WHERE trace_id = ?1"));
  TRACEDB_TRY(numbers.Bind(1, trace_id));
  for (;;) {
    TRACEDB_ASSIGN(any, numbers.Step());
    if (!any) return Done{};
    TRACEDB_TRY(MakeOfDevice(db, trace_id, numbers.Int(0), row));
  }
}

}  // namespace tracedb
