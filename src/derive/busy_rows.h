// GPU activities by device and start -> what streams and devices were busy with, the rows of
// _busy_segment, and how the time of steps is shared out.
#pragma once

#include <filesystem>

#include "derive/derived_use.h"
#include "derive/gathered/sort_beside.h"
#include "derive/step_finder.h"
#include "derive/sync_calls.h"
#include "tracedb/base/result.h"
#include "tracedb/derive/derive_trace.h"
#include "tracedb/memory/load_limits.h"

namespace tracedb {

struct BusyInput {
  const GatheredTrace& trace;
  StepFinder& steps;
  SyncCalls& syncs;
  const LoadLimits& limits;
};

// Fills `use`, which has the devices and streams, and _busy_segment of `database`. An entry is an
// activity: its group is the device, its key the start, its value how long it lasts.
Status DeriveBusyRows(const BusyInput& input, const std::filesystem::path& database,
                      SortBeside& entries, DerivedUse::Parts& use);

}  // namespace tracedb
