// The charts of a comparison's page, as SVG that no script draws.
#pragma once

#include <string>

#include "tracedb/compare/comparison.h"

namespace tracedb {

// From base's step to new's: a bar for each part that changed.
std::string WaterfallChart(const Comparison& comparison);

// Two bars for each part: base's and new's.
std::string PartsChart(const Comparison& comparison);

// A usual step of both sides, on one scale: a lane for each GPU, of each side the first ones.
std::string StepChart(const Comparison& comparison);

// The operators whose time on the GPU changed most: a bar to the left is less, to the right more.
// Empty: none did.
std::string OperatorsChart(const Comparison& comparison, size_t most);

}  // namespace tracedb
