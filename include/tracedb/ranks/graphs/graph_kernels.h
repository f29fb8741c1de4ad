// Kernels that a graph's replay ran, put to the operators that were captured.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tracedb/base/result.h"
#include "tracedb/base/sqlite_db.h"
#include "tracedb/memory/load_limits.h"

namespace tracedb {

// When traces have landed: matches each replay's kernels with the launches of the capture, and
// gives them their paths in _launch, and the sums over calls what they add. Does nothing where no
// graph was launched, or nothing has changed since it last ran. `limits` bounds what it keeps.
Status AttributeGraphKernels(SqliteDb& db, const GraphLimits& limits);

}  // namespace tracedb
