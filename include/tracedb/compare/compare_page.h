// A comparison as one HTML page that loads nothing, in the style of the report.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "tracedb/compare/comparison.h"

namespace tracedb {

std::string ComparePage(const Comparison& comparison, size_t rows_max, std::string_view version);

}  // namespace tracedb
