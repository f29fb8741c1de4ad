// Which stretch of time a cut is about.
#pragma once

#include <atomic>
#include <string>

#include "cut/cut_source.h"
#include "tracedb/base/result.h"
#include "tracedb/cut/cut_command.h"

namespace tracedb {

// Gives the sources their window. False when everything is wanted. What was found goes to `note`
// where the person did not name a time.
Result<bool> SetWindow(SqliteDb& db, const CutOptions& options, CutSources& sources,
                       const std::atomic<bool>& stop, std::string& note);

}  // namespace tracedb
