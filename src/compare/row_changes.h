// What of a step changed: operators, kernels, collectives and the host's work, the most telling
// first.
#pragma once

#include <cstddef>
#include <vector>

#include "compare/side_judge.h"

namespace tracedb {

struct RowChanges {
  std::vector<RowChange> rows;
  size_t left_out = 0;  // that changed by less
};

// The largest changes are judged and kept.
RowChanges FindRowChanges(const Sides& sides, double step_ns);

}  // namespace tracedb
