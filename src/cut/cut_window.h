// Which stretch of time a cut is about.
#pragma once

#include <atomic>
#include <optional>
#include <string>

#include "cut/cut_source.h"
#include "tracedb/base/result.h"
#include "tracedb/cut/cut_command.h"

namespace tracedb {

// On the scale of the output; nothing when everything is wanted. What was found goes to `note`
// where the person did not name a time.
Result<std::optional<Interval>> ChooseWindow(SqliteDb& db, const CutOptions& options,
                                             const CutSources& sources,
                                             const std::atomic<bool>& stop, std::string& note);

}  // namespace tracedb
