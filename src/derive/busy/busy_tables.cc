#include "derive/busy/busy_tables.h"

#include <initializer_list>
#include <utility>

namespace tracedb {
namespace {

Status Insert(SqliteStatement& insert, int64_t trace_id,
              std::initializer_list<std::string_view> texts,
              std::initializer_list<int64_t> values) {
  int parameter = 0;
  TRACEDB_TRY(insert.Bind(++parameter, trace_id));
  for (const std::string_view text : texts) TRACEDB_TRY(insert.Bind(++parameter, text));
  for (const int64_t value : values) TRACEDB_TRY(insert.Bind(++parameter, value));
  return insert.Run();
}

}  // namespace

BusyTables::BusyTables(int64_t trace_id, SqliteStatement segment, SqliteStatement device,
                       SqliteStatement stream)
    : trace_id_(trace_id),
      segment_(std::move(segment)),
      device_(std::move(device)),
      stream_(std::move(stream)) {}

Result<BusyTables> BusyTables::Create(SqliteDb& db, int64_t trace_id) {
  TRACEDB_ASSIGN(segment, db.Prepare("INSERT INTO _busy_segment VALUES (?,?,?,?,?)"));
  TRACEDB_ASSIGN(device, db.Prepare("INSERT INTO _device_use VALUES (?,?,?,?,?,?,?,?,?,?)"));
  TRACEDB_ASSIGN(stream, db.Prepare("INSERT INTO _stream_use VALUES (?,?,?,?,?,?,?,?,?,?)"));
  return BusyTables(trace_id, std::move(segment), std::move(device), std::move(stream));
}

Status BusyTables::Segments(std::string_view device, const std::vector<BusySegment>& segments) {
  for (const BusySegment& segment : segments) {
    TRACEDB_TRY(Insert(segment_, trace_id_, {device},
                       {segment.start_ns, segment.length(), static_cast<int64_t>(segment.kinds)}));
  }
  return Done{};
}

Status BusyTables::Device(std::string_view device, const DeviceUse& use) {
  return Insert(
      device_, trace_id_, {device},
      {use.span().start_ns, use.span().end_ns, use.compute_ns, use.communication_ns, use.overlap_ns,
       use.exposed_communication_ns, use.exposed_memory_ns, use.idle_ns()});
}

Status BusyTables::Stream(std::string_view device, std::string_view stream, const StreamUse& use) {
  return Insert(stream_, trace_id_, {device, stream},
                {use.activities(), use.span().start_ns, use.span().end_ns, use.busy_ns(),
                 use.kind_ns(0), use.kind_ns(1), use.kind_ns(2)});
}

}  // namespace tracedb
