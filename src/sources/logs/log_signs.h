// How a training log is told from all else that holds words and numbers.
#pragma once

#include <string_view>

namespace tracedb {

// Whether a line stands there that only a training program prints.
bool HoldsLogSigns(std::string_view text);

}  // namespace tracedb
