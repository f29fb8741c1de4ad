// Host slices that take long enough to hold up what their thread launches: the entries of the
// partial indexes *_slice_long, gathered while a trace is read.
#pragma once

#include <array>
#include <cstdint>

#include "tracedb/derive/gpu_activities.h"
#include "tracedb/schema/table_schema.h"

namespace tracedb {

// What table_schema.sql says of these indexes. Of the fixture with Python stacks, 4 % of the host's
// slices are as long: their entries are 1 % of the database.
inline constexpr int64_t kLongSliceNs = 250'000;

inline constexpr std::array kLongSliceTables = {EventTable::kCpuSlice, EventTable::kRuntimeSlice,
                                                EventTable::kPythonSlice};

// id, ts and track; `kind` is the table.
using LongSlices = GpuActivities;

}  // namespace tracedb
