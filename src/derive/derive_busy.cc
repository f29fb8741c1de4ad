// Busy time of a rank through SQLite: for any number of activities, streams and traces, in the
// memory of SQLite's sorter. A trace that fits in memory takes the way of derive_trace.cc.

#include "tracedb/derive/derive_busy.h"

#include <optional>
#include <string>

#include "derive/busy_tables.h"

namespace tracedb {
namespace {

constexpr size_t kSegmentsAtATime = 4096;

// The rank's activities with a duration; negative ones add nothing, nor do those without timing.
Result<SqliteStatement> Activities(SqliteDb& db, int64_t rank, const std::string& order) {
  TRACEDB_ASSIGN(rows, db.Prepare("SELECT t.device, t.stream, g.kind, g.ts + t.base_ns AS ts_ns, "
                                  "g.dur FROM _gpu_slice g CROSS JOIN _track t ON t.id = g.track "
                                  "CROSS JOIN _trace r ON r.trace_id = t.trace_id "
                                  "WHERE t.rank = ?1 AND g.dur >= 0 AND NOT (g.dur = 0 AND "
                                  "g.ts + t.base_ns = ifnull(r.base_time_ns, 0)) ORDER BY " +
                                  order));
  TRACEDB_TRY(rows.Bind(1, rank));
  return rows;
}

BusyInterval IntervalOf(const SqliteStatement& row) {
  return {{row.Int(3), row.Int(3) + row.Int(4)}, static_cast<GpuKind>(row.Int(2))};
}

Status DeriveDevices(SqliteDb& db, int64_t rank, BusyTables& tables) {
  TRACEDB_ASSIGN(rows, Activities(db, rank, "t.device, ts_ns"));
  std::optional<std::string> device;
  DeviceUse use;
  std::vector<BusySegment> segments;
  const auto finish = [&]() -> Status {
    if (!use.any()) return Done{};
    use.Finish(segments);
    TRACEDB_TRY(tables.Segments(*device, segments));
    segments.clear();
    return tables.Device(*device, use);
  };
  for (;;) {
    TRACEDB_ASSIGN(row, rows.Step());
    if (!row) return finish();
    if (!device.has_value() || rows.Text(0) != *device) {
      TRACEDB_TRY(finish());
      device = rows.Text(0);
      use = {};
    }
    use.Add(IntervalOf(rows), segments);
    if (segments.size() < kSegmentsAtATime) continue;
    TRACEDB_TRY(tables.Segments(*device, segments));
    segments.clear();
  }
}

Status DeriveStreams(SqliteDb& db, int64_t rank, BusyTables& tables) {
  TRACEDB_ASSIGN(rows, Activities(db, rank, "t.device, t.stream, ts_ns"));
  std::string device;
  std::string stream;
  StreamUse use;
  for (;;) {
    TRACEDB_ASSIGN(row, rows.Step());
    const bool same =
        row && use.activities() > 0 && rows.Text(0) == device && rows.Text(1) == stream;
    if (!same && use.activities() > 0) TRACEDB_TRY(tables.Stream(device, stream, use));
    if (!row) return Done{};
    if (!same) {
      device = rows.Text(0);
      stream = rows.Text(1);
      use = {};
    }
    use.Add(IntervalOf(rows));
  }
}

}  // namespace

Status DeriveBusy(SqliteDb& db, int64_t rank) {
  for (const char* table : kBusyTables) {
    TRACEDB_TRY(
        db.Execute("DELETE FROM " + std::string(table) + " WHERE rank = " + std::to_string(rank)));
  }
  TRACEDB_ASSIGN(tables, BusyTables::Create(db, rank));
  TRACEDB_TRY(DeriveDevices(db, rank, tables));
  return DeriveStreams(db, rank, tables);
}

}  // namespace tracedb
