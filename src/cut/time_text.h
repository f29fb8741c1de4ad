// Times and lengths of time as people write them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tracedb {

struct TimeText {
  int64_t ns = 0;
  bool has_unit = false;
};

// "1.25s", "300ms", "5us", "7ns", and without a unit whole ns. Nothing when it is none of these, or
// too large. What is beyond a nanosecond is cut off.
std::optional<TimeText> ParseTimeText(std::string_view text);

// Appends ns as microseconds with three digits after the point: every nanosecond is told.
void AppendMicros(std::string& out, int64_t ns);

}  // namespace tracedb
