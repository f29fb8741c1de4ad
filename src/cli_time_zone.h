// Time zones as people write them on the command line.
#pragma once

#include <cstdint>
#include <string>

#include "tracedb/base/result.h"

namespace tracedb {

// What to take from local time for UTC: of +02:00 two hours. UTC and Z, offsets (+2, -03:30, +0530)
// and "local", which is this machine's today. Names of places are refused: what they mean depends
// on the date.
Result<int64_t> UtcOffsetNs(const std::string& zone);

}  // namespace tracedb
