// What of a step changed: operators, kernels, collectives and the host's work, the most telling
// first.
#pragma once

#include <vector>

#include "compare/side_judge.h"

namespace tracedb {

// Of changes that no verdict could be made of only those are kept that are on one side alone, or
// among the largest; Holm's way counts all that were judged.
std::vector<RowChange> FindRowChanges(const Sides& sides, double step_ns);

}  // namespace tracedb
