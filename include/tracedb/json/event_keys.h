// The keys of a trace event, by which an event is told from other text.
#pragma once

#include <algorithm>
#include <array>
#include <string_view>

namespace tracedb {

inline constexpr std::array<std::string_view, 9> kEventKeys = {"ph", "name", "cat",  "pid", "tid",
                                                               "ts", "dur",  "args", "id"};
inline constexpr size_t kEventKeyBytesMax = 4;

constexpr bool IsEventKey(std::string_view key) {
  return std::find(kEventKeys.begin(), kEventKeys.end(), key) != kEventKeys.end();
}

}  // namespace tracedb
