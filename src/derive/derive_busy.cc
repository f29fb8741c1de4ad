// Busy time of a trace through SQLite: for any number of activities and streams, in the memory of
// SQLite's sorter. A trace with fewer tracks takes the way of derive_trace.cc.

#include "derive/derive_busy.h"

#include <optional>
#include <string>

#include "derive/busy/busy_tables.h"

namespace tracedb {
namespace {

constexpr size_t kSegmentsAtATime = 4096;

// The activities with a duration; negative ones add nothing, nor do those without timing.
Result<SqliteStatement> Activities(SqliteDb& db, const std::string& order) {
  TRACEDB_ASSIGN(rows, db.Prepare("SELECT t.device, t.stream, g.kind, g.ts + t.base_ns AS ts_ns, "
                                  "g.dur FROM _gpu_slice g CROSS JOIN _track t ON t.id = g.track "
                                  "CROSS JOIN _trace r ON r.trace_id = t.trace_id "
                                  "WHERE g.dur >= 0 AND g.id NOT IN (SELECT id FROM "
                                  "_impossible_time) AND NOT (g.dur = 0 AND "
                                  "g.ts + t.base_ns = ifnull(r.base_time_ns, 0)) ORDER BY " +
                                  order));
  return rows;
}

BusyInterval IntervalOf(const SqliteStatement& row) {
  return {{row.Int(3), row.Int(3) + row.Int(4)}, static_cast<GpuKind>(row.Int(2))};
}

Status DeriveDevices(SqliteDb& db, BusyTables& tables) {
  TRACEDB_ASSIGN(rows, Activities(db, "t.device, ts_ns"));
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

Status DeriveStreams(SqliteDb& db, BusyTables& tables) {
  TRACEDB_ASSIGN(rows, Activities(db, "t.device, t.stream, ts_ns"));
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

Status DeriveBusy(SqliteDb& db, int64_t trace_id) {
  TRACEDB_ASSIGN(tables, BusyTables::Create(db, trace_id));
  TRACEDB_TRY(DeriveDevices(db, tables));
  return DeriveStreams(db, tables);
}

}  // namespace tracedb
