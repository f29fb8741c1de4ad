// What an export says of the recording, as the header of a trace. What may hold secrets (the
// environment, command lines) is not copied, nor what differs from one export of a recording to the
// next.
#pragma once

#include <string>

#include "sources/nsys/part_reading.h"
#include "tracedb/base/result.h"

namespace tracedb {

// From the brace of the trace to that of the array of its events; `groups` is JSON of pg_config,
// empty: none.
Result<std::string> ExportHeader(PartReading& part, const std::string& groups);

}  // namespace tracedb
