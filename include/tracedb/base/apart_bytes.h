// How far apart things must lie that two threads write at the same time: processors fetch lines of
// memory by two, and each write takes them away from the other core.
#pragma once

#include <cstddef>

namespace tracedb {

inline constexpr size_t kApartBytes = 128;

}  // namespace tracedb
