#include "sources/nsys/host_rows.h"

#include <algorithm>
#include <cctype>

namespace tracedb {
namespace {

constexpr std::string_view kCallColumns[] = {"start",     "end",           "eventClass",
                                             "globalTid", "correlationId", "nameId"};
constexpr std::string_view kSyncColumns[] = {"start",    "end",           "deviceId",  "contextId",
                                             "streamId", "correlationId", "globalPid", "syncType",
                                             "eventId",  "eventSyncId"};

constexpr size_t kBytesEach = 80;  // of an event that was recorded, in memory

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

enum CallColumn { kStart, kEnd, kClass, kTid, kCorrelation, kName, kCallOthers };
enum SyncColumn {
  kSyncStart,
  kSyncEnd,
  kDevice,
  kContext,
  kStream,
  kSyncCorrelation,
  kPid,
  kSyncType,
  kEvent,
  kEventSync,
  kSyncOthers
};

// As PyTorch's profiler calls them.
std::string_view SyncName(std::optional<int64_t> type) {
  switch (type.value_or(0)) {
    case 1:
      return "Event Sync";
    case 2:
      return "Stream Wait Event";
    case 3:
      return "Stream Sync";
    case 4:
      return "Context Sync";
    default:
      return "Unknown Sync";
  }
}

// A driver's call, where the table does not tell: cu and a capital.
bool IsDriverName(std::string_view name) {
  return name.size() > 2 && name.starts_with("cu") &&
         std::isupper(static_cast<unsigned char>(name[2])) != 0;
}

}  // namespace

std::string_view PlainCallName(std::string_view name) {
  for (const std::string_view ending : {"_ptsz", "_ptds"}) {
    if (name.ends_with(ending)) name.remove_suffix(ending.size());
  }
  const size_t at = name.rfind("_v");
  // _v2 is a part of the name: cuMemcpyHtoD_v2.
  constexpr size_t kVersionDigitsMin = 4;
  if (at == std::string_view::npos || name.size() - at - 2 < kVersionDigitsMin) return name;
  if (!std::all_of(name.begin() + static_cast<ptrdiff_t>(at) + 2, name.end(), IsDigit)) return name;
  name = name.substr(0, at);
  for (const std::string_view ending : {"_ptsz", "_ptds"}) {
    if (name.ends_with(ending)) name.remove_suffix(ending.size());
  }
  return name;
}

CallRows::CallRows(const ExportTables& tables) : others_(tables, kCallTable, kCallColumns) {}

std::string CallRows::Sql(const PartReading& part) const {
  return "SELECT " + part.tables().Select(kCallTable, kCallColumns) + others_.Select() + " FROM " +
         kCallTable + " WHERE " + part.Condition(kCallTable);
}

void CallRows::Write(const SqliteStatement& row, PartReading& part, EventJson& out) {
  const auto start = IntIn(row, kStart);
  if (!start.has_value()) return part.Unusable(kCallTable, "start is no number");
  const std::string* const text = part.Text(IntIn(row, kName));
  const std::string_view full = text == nullptr ? "?" : std::string_view(*text);
  const std::string_view name = PlainCallName(full);
  const auto event_class = IntIn(row, kClass);
  const bool driver = event_class.has_value() ? *event_class == 1 : IsDriverName(name);
  const int64_t tid = IntIn(row, kTid).value_or(0);
  out.Begin('X', driver ? "cuda_driver" : "cuda_runtime", name);
  out.Track(PidOf(tid), TidOf(tid));
  out.Time(*start);
  out.Duration(*start, IntIn(row, kEnd));
  out.Arg(part.IsForeign(tid) ? "correlationId" : "correlation", IntIn(row, kCorrelation));
  if (name.size() != full.size()) out.ArgInside("call", full);
  others_.Write(row, kCallOthers, out);
  out.End();
}

SyncRows::SyncRows(const ExportTables& tables) : others_(tables, kSyncTable, kSyncColumns) {}

Result<std::unique_ptr<TableRows>> SyncRows::Make(PartReading& part, uint64_t rows_max,
                                                  size_t bytes_max) {
  std::unique_ptr<SyncRows> made(new SyncRows(part.tables()));
  if (part.tables().Has(kEventTable, "eventSyncId")) {
    TRACEDB_ASSIGN(
        rows, part.db().Prepare(
                  "SELECT " +
                  part.tables().Select(kEventTable, {"eventSyncId", "streamId", "correlationId"}) +
                  " FROM " + kEventTable + " WHERE " + part.Condition(kEventTable)));
    uint64_t without = 0;
    for (uint64_t count = 0;; ++count) {
      TRACEDB_ASSIGN(row, StepRow(rows, count, rows_max));
      if (!row) break;
      const auto id = IntIn(rows, 0);
      if (id.value_or(0) == 0) continue;
      if (made->recorded_.size() * kBytesEach >= bytes_max) {
        ++without;
        continue;
      }
      made->recorded_[*id] = {IntIn(rows, 1), IntIn(rows, 2)};
    }
    part.NotKept(kEventTable, without);
  }
  return std::unique_ptr<TableRows>(std::move(made));
}

std::string SyncRows::Sql(const PartReading& part) const {
  return "SELECT " + part.tables().Select(kSyncTable, kSyncColumns) + others_.Select() + " FROM " +
         kSyncTable + " WHERE " + part.Condition(kSyncTable);
}

void SyncRows::Write(const SqliteStatement& row, PartReading& part, EventJson& out) {
  const auto start = IntIn(row, kSyncStart);
  if (!start.has_value()) return part.Unusable(kSyncTable, "start is no number");
  const auto type = IntIn(row, kSyncType);
  const auto context = IntIn(row, kContext);
  // Its own number of the GPU is 0 for every context in exports of 2026.
  const int64_t device = part.DeviceOf(context).value_or(IntIn(row, kDevice).value_or(0));
  constexpr int64_t kNoStream = 0xffffffff;
  constexpr int64_t kSyncThreads = 1'000'000;  // where PyTorch's profiler puts waits for a stream
  const int64_t stream = IntIn(row, kStream).value_or(kNoStream);
  const bool has_stream = stream >= 0 && stream < kNoStream;
  out.Begin('X', "cuda_sync", SyncName(type));
  out.Track(device, has_stream ? kSyncThreads + stream : -1);
  out.Time(*start);
  out.Duration(*start, IntIn(row, kSyncEnd));
  out.ArgInside("cuda_sync_kind", SyncName(type));
  out.Arg("device", device);
  out.Arg("context", context);
  out.Arg("stream", has_stream ? stream : -1);
  const auto pid = IntIn(row, kPid);
  const bool foreign = pid.has_value() && part.IsForeign(*pid);
  out.Arg(foreign ? "correlationId" : "correlation", IntIn(row, kSyncCorrelation));
  if (foreign) out.Arg("globalPid", *pid);
  const auto event = IntIn(row, kEvent);
  out.Arg(event.value_or(kNoStream) != kNoStream ? "wait_on_cuda_event_id" : "eventId", event);
  const auto event_sync = IntIn(row, kEventSync);
  const auto recorded = event_sync.has_value() ? recorded_.find(*event_sync) : recorded_.end();
  if (recorded != recorded_.end() && !foreign) {
    out.Arg("wait_on_stream", recorded->second.stream);
    out.Arg("wait_on_cuda_event_record_corr_id", recorded->second.correlation);
  }
  out.Arg("eventSyncId", event_sync);
  const auto told = IntIn(row, kDevice);
  if (told.has_value() && *told != device) out.Arg("deviceId", *told);
  others_.Write(row, kSyncOthers, out);
  out.End();
}

}  // namespace tracedb
