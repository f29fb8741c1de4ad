// What an export says of the recording: as the header of a trace, and names of processes and
// threads as its metadata events. What may hold secrets (the environment, command lines) is not
// copied, nor what differs from one export of a recording to the next.
#pragma once

#include <string>

#include "sources/nsys/part_reading.h"
#include "tracedb/base/result.h"

namespace tracedb {

// From the brace of the trace to that of the array of its events; `groups` is JSON of pg_config,
// empty: none.
Result<std::string> ExportHeader(PartReading& part, const std::string& groups);

// Appends the names of the part's processes and threads.
Status WriteNames(PartReading& part, uint64_t rows_max, EventJson& out);

}  // namespace tracedb
