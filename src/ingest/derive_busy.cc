#include <algorithm>
#include <map>
#include <optional>
#include <string>

#include "ingest/busy_sweep.h"
#include "ingest/derive_tables.h"

namespace tracedb {
namespace {

constexpr uint32_t kCompute = 1;
constexpr uint32_t kCommunication = 2;
constexpr uint32_t kMemory = 4;

struct StreamUse {
  int64_t activities = 0;
  int64_t start_ns = 0;
  int64_t end_ns = 0;
  BusyUnion busy;
  std::array<BusyUnion, kBusyKinds> kinds;
};

struct DeviceUse {
  int64_t start_ns = 0;
  int64_t end_ns = 0;
  int64_t compute_ns = 0;
  int64_t communication_ns = 0;
  int64_t overlap_ns = 0;
  int64_t exposed_communication_ns = 0;
  int64_t exposed_memory_ns = 0;

  void Add(const BusySegment& segment) {
    const int64_t length = segment.end_ns - segment.start_ns;
    const bool compute = (segment.kinds & kCompute) != 0;
    const bool communication = (segment.kinds & kCommunication) != 0;
    if (compute) compute_ns += length;
    if (communication) communication_ns += length;
    if (compute && communication) overlap_ns += length;
    if (communication && !compute) exposed_communication_ns += length;
    if (segment.kinds == kMemory) exposed_memory_ns += length;
  }
};

// Runs an insert with `values` bound to its parameters, the first two of them rank and device.
Status InsertRow(SqliteStatement& insert, int64_t rank, const std::string& device,
                 std::initializer_list<int64_t> values, const std::string* stream = nullptr) {
  int parameter = 0;
  TRACEDB_TRY(insert.Bind(++parameter, rank));
  TRACEDB_TRY(insert.Bind(++parameter, std::string_view(device)));
  if (stream != nullptr) TRACEDB_TRY(insert.Bind(++parameter, std::string_view(*stream)));
  for (const int64_t value : values) TRACEDB_TRY(insert.Bind(++parameter, value));
  TRACEDB_ASSIGN(row, insert.Step());
  (void)row;
  insert.Reset();
  return Done{};
}

// One device's sweep, from its first activity to its last.
class DeviceSweep {
 public:
  static Result<DeviceSweep> Create(SqliteDb& db, int64_t rank) {
    TRACEDB_ASSIGN(segment, db.Prepare("INSERT INTO busy_segment VALUES (?,?,?,?,?)"));
    TRACEDB_ASSIGN(device, db.Prepare("INSERT INTO device_use VALUES (?,?,?,?,?,?,?,?,?,?)"));
    TRACEDB_ASSIGN(stream, db.Prepare("INSERT INTO stream_use VALUES (?,?,?,?,?,?,?,?,?,?)"));
    return DeviceSweep(rank, std::move(segment), std::move(device), std::move(stream));
  }

  void Begin(std::string device) {
    device_ = std::move(device);
    sweep_ = {};
    use_.reset();
    streams_.clear();
  }

  Status Add(const std::string& stream, int kind, int64_t start_ns, int64_t end_ns) {
    StreamUse& stream_use = streams_[stream];
    if (stream_use.activities++ == 0) {
      stream_use.start_ns = start_ns;
      stream_use.end_ns = end_ns;
    }
    stream_use.end_ns = std::max(stream_use.end_ns, end_ns);
    stream_use.busy.Add(start_ns, end_ns);
    stream_use.kinds[static_cast<size_t>(kind)].Add(start_ns, end_ns);
    if (!use_.has_value()) {
      use_.emplace();
      use_->start_ns = start_ns;
      use_->end_ns = end_ns;
    }
    use_->end_ns = std::max(use_->end_ns, end_ns);
    sweep_.Add(start_ns, end_ns, kind, segments_);
    return segments_.size() < kSegmentsAtATime ? Status(Done{}) : StoreSegments();
  }

  Status Finish() {
    if (!use_.has_value()) return Done{};
    sweep_.Finish(segments_);
    TRACEDB_TRY(StoreSegments());
    const DeviceUse& use = *use_;
    const int64_t idle_ns = use.end_ns - use.start_ns - use.compute_ns -
                            use.exposed_communication_ns - use.exposed_memory_ns;
    TRACEDB_TRY(InsertRow(insert_device_, rank_, device_,
                          {use.start_ns, use.end_ns, use.compute_ns, use.communication_ns,
                           use.overlap_ns, use.exposed_communication_ns, use.exposed_memory_ns,
                           idle_ns}));
    for (const auto& [stream, stream_use] : streams_) {
      TRACEDB_TRY(InsertRow(
          insert_stream_, rank_, device_,
          {stream_use.activities, stream_use.start_ns, stream_use.end_ns,
           stream_use.busy.busy_ns(), stream_use.kinds[0].busy_ns(),
           stream_use.kinds[1].busy_ns(), stream_use.kinds[2].busy_ns()},
          &stream));
    }
    return Done{};
  }

 private:
  static constexpr size_t kSegmentsAtATime = 4096;

  DeviceSweep(int64_t rank, SqliteStatement segment, SqliteStatement device,
              SqliteStatement stream)
      : rank_(rank),
        insert_segment_(std::move(segment)),
        insert_device_(std::move(device)),
        insert_stream_(std::move(stream)) {}

  Status StoreSegments() {
    for (const BusySegment& segment : segments_) {
      use_->Add(segment);
      TRACEDB_TRY(InsertRow(insert_segment_, rank_, device_,
                            {segment.start_ns, segment.end_ns - segment.start_ns,
                             static_cast<int64_t>(segment.kinds)}));
    }
    segments_.clear();
    return Done{};
  }

  int64_t rank_;
  SqliteStatement insert_segment_;
  SqliteStatement insert_device_;
  SqliteStatement insert_stream_;
  std::string device_;
  BusySweep sweep_;
  std::optional<DeviceUse> use_;
  std::map<std::string, StreamUse> streams_;
  std::vector<BusySegment> segments_;
};

}  // namespace

Status DeriveBusy(SqliteDb& db, int64_t rank) {
  for (const char* table : {"busy_segment", "device_use", "stream_use"}) {
    TRACEDB_TRY(db.Execute("DELETE FROM " + std::string(table) +
                           " WHERE rank = " + std::to_string(rank)));
  }
  // Negative durations add nothing; neither do activities whose duration the file does not tell.
  TRACEDB_ASSIGN(rows, db.Prepare("SELECT t.device, t.stream, g.kind, g.ts + t.base_ns AS ts_ns, "
                                  "g.dur FROM gpu_slice g CROSS JOIN track t ON t.id = g.track "
                                  "WHERE t.rank = ?1 AND g.dur >= 0 ORDER BY t.device, ts_ns"));
  TRACEDB_TRY(rows.Bind(1, rank));
  TRACEDB_ASSIGN(sweep, DeviceSweep::Create(db, rank));
  std::optional<std::string> device;
  std::string stream;
  for (;;) {
    TRACEDB_ASSIGN(row, rows.Step());
    if (!row) break;
    if (!device.has_value() || rows.Text(0) != *device) {
      TRACEDB_TRY(sweep.Finish());
      device = rows.Text(0);
      sweep.Begin(*device);
    }
    stream = rows.Text(1);
    const int64_t start_ns = rows.Int(3);
    TRACEDB_TRY(sweep.Add(stream, static_cast<int>(rows.Int(2)), start_ns,
                          start_ns + rows.Int(4)));
  }
  return sweep.Finish();
}

}  // namespace tracedb
