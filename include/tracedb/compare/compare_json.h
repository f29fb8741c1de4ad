// A comparison as one JSON object: for programs, and for the page that shows it.
#pragma once

#include <string>

#include "tracedb/compare/comparison.h"

namespace tracedb {

std::string CompareJson(const Comparison& comparison);

}  // namespace tracedb
