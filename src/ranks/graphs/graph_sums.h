// Sums by what the host called and by kernel, with what graphs change in them.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>

#include "tracedb/base/result.h"
#include "tracedb/base/sqlite_db.h"

namespace tracedb {

// A row of _graph_change; where it has NULL there is 0 here.
struct GraphSumKey {
  std::optional<int64_t> step;
  int64_t kind = 0;  // -1: of _kernel_use
  int64_t name = 0;
  int64_t detail = 0;
  int64_t kernel = 0;
  bool is_eager = false;
  auto operator<=>(const GraphSumKey&) const = default;
};

struct GraphSums {
  int64_t activities = 0, gpu_ns = 0, self_gpu_ns = 0, backward_gpu_ns = 0,
          self_backward_gpu_ns = 0, calls = 0;
};

using GraphSumsByKey = std::map<GraphSumKey, GraphSums>;

// Adds what is changed in a trace to _host_use and _kernel_use.
Status ApplyGraphChanges(SqliteDb& db, int64_t trace_id, const GraphSumsByKey& changes);
// The same of what _graph_change has of the trace, or with `sign` -1 takes it away.
Status ApplyGraphChanges(SqliteDb& db, int64_t trace_id, int sign);

}  // namespace tracedb
