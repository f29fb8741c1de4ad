// Lines over the iterations of training logs, for a comparison's page: SVG that no script draws.
#pragma once

#include <cstddef>
#include <string>

#include "tracedb/compare/comparison.h"

namespace tracedb {

// What each run's training log says by iteration. Empty: no log does. The first iterations take
// many times as long as the others: what is beyond the chart is counted in `beyond`.
std::string IterationTimeChart(const Comparison& comparison, size_t& beyond);
std::string LossChart(const Comparison& comparison);

}  // namespace tracedb
