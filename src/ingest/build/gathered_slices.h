// What is worked out when a trace has been read is made of its slices: the GPU's activities, the
// host's calls, and the host's long slices, gathered from its rows while they come.
#pragma once

#include <filesystem>

#include "ingest/build/table_writer.h"
#include "tracedb/base/apart_bytes.h"
#include "tracedb/base/result.h"
#include "tracedb/derive/gathered/gpu_activities.h"
#include "tracedb/derive/gathered/host_slices.h"
#include "tracedb/derive/gathered/long_slices.h"
#include "tracedb/memory/load_limits.h"
#include "tracedb/schema/args_columns.h"
#include "tracedb/schema/event_tables.h"

namespace tracedb {

class alignas(kApartBytes) GatheredSlices {
 public:
  // `folder` is for what does not fit in memory.
  GatheredSlices(const LoadLimits& limits, const std::filesystem::path& folder);

  // A row of any table, in their order; leaves aside what is no slice.
  Status Add(EventTable table, const EventRow& row, const ArgsValues& values);
  // No row comes any more.
  Status Finish() { return host_slices_.Finish(); }

  const HostSlices& host_slices() const { return host_slices_; }
  const GpuActivities& gpu_activities() const { return gpu_activities_; }
  const LongSlices& long_slices() const { return long_slices_; }

 private:
  Status AddActivity(const EventRow& row, const ArgsValues& values);
  Status AddHostSlice(EventTable table, const EventRow& row, const ArgsValues& values);

  HostSlices host_slices_;
  GpuActivities gpu_activities_;
  LongSlices long_slices_;
};

}  // namespace tracedb
