// One function a command: from options to work and text. Only main.cc and these write to standard
// error, through Stderr below.
#pragma once

#include <atomic>
#include <string>

#include "cli_options.h"
#include "tracedb/base/result.h"
#include "tracedb/query/query_catalog.h"

namespace tracedb {

// `stop` becomes true when the person presses ctrl-C.
Status RunIngest(const GlobalOptions& global, const IngestOptions& options,
                 const std::atomic<bool>& stop);
Status RunInfo(const GlobalOptions& global, const InfoOptions& options);

void WriteToStderr(const std::string& text);

// A line on standard error, after whatever progress stands there.
void SayNote(const GlobalOptions& global, const std::string& note);

}  // namespace tracedb
