// Sentences of a comparison, which its text, its page and the command line share.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tracedb/compare/comparison.h"

namespace tracedb {

// Of what the times are: "a step", "an iteration" of a training log, or "the recording".
std::string_view UnitOf(const Comparison& comparison);

// What the noise is told from: "run", "step", "iteration" or "recording".
std::string_view UnitName(const Comparison& comparison);

// The facts that decide, such as "GPUs: A in base, B in new"; empty where they are comparable.
std::string WhyNotComparable(const Comparison& comparison);

// A sentence for each fact in which the runs of a side are not alike.
std::vector<std::string> UnlikeTexts(const Comparison& comparison);

}  // namespace tracedb
