// Times as training logs write them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace tracedb {

// "2024-08-21 10:19:42.123456": ns as if it were UTC; a zone after it is taken into account.
struct LogStamp {
  int64_t ns = 0;
  bool has_zone = false;
};

// The date and time with which `text` begins; `length` is how much of it they are. A fraction
// follows a point or a comma, a zone is Z or +hh:mm.
std::optional<LogStamp> ReadLogStamp(std::string_view text, size_t& length);

// "1686729000.25" seconds as ns, exactly.
std::optional<int64_t> ReadSecondsAsNs(std::string_view text);

}  // namespace tracedb
