#include "derive/derived_use.h"

#include <string>
#include <utility>
#include <vector>

#include "derive/busy/busy_tables.h"
#include "derive/derive_busy.h"

namespace tracedb {
namespace {

Status StoreBusy(SqliteDb& db, int64_t trace_id, const DerivedUse::Parts& parts) {
  TRACEDB_ASSIGN(tables, BusyTables::Create(db, trace_id));
  for (const DerivedUse::Parts::Device& device : parts.devices) {
    if (device.use.any()) TRACEDB_TRY(tables.Device(device.device, device.use));
  }
  for (const DerivedUse::Parts::Stream& stream : parts.streams) {
    if (stream.use.activities() == 0) continue;
    TRACEDB_TRY(tables.Stream(parts.devices[stream.device].device, stream.stream, stream.use));
  }
  return Done{};
}

}  // namespace

DerivedUse::DerivedUse(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
DerivedUse::DerivedUse(DerivedUse&&) noexcept = default;
DerivedUse& DerivedUse::operator=(DerivedUse&&) noexcept = default;
DerivedUse::~DerivedUse() = default;

Status DerivedUse::Store(SqliteDb& db, const GatheredTrace& trace) {
  const int64_t trace_id = trace.trace_id;
  TRACEDB_TRY(parts_->host->Store(db, trace_id, trace.first_path));
  parts_->host.reset();
  if (parts_->steps.has_value()) {
    std::vector<std::string> devices;
    for (const Parts::Device& device : parts_->devices) devices.push_back(device.device);
    TRACEDB_TRY(parts_->steps->Store(db, trace_id, devices));
    parts_->steps.reset();
  }
  if (parts_->as_pages) {
    if (parts_->has_parts) TRACEDB_TRY(db.Execute("REINDEX _collective_part_by_group"));
    return StoreBusy(db, trace_id, *parts_);
  }
  TRACEDB_TRY(DeriveBusy(db, trace_id));
  return db.Execute("REINDEX");
}

}  // namespace tracedb
