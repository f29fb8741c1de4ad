// Sentences of a comparison, which its text, its page and the command line share.
#pragma once

#include <string>
#include <vector>

#include "tracedb/compare/comparison.h"

namespace tracedb {

// The facts that decide, such as "GPUs: A in base, B in new"; empty where they are comparable.
std::string WhyNotComparable(const Comparison& comparison);

// A sentence for each fact in which the runs of a side are not alike.
std::vector<std::string> UnlikeTexts(const Comparison& comparison);

}  // namespace tracedb
