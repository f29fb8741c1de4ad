// The numbers of a run of which only a training log is there, or that is compared with such a one:
// its iterations are the steps, its timers the rows. It has no parts, and nothing of GPUs.
#pragma once

#include <string>

#include "compare/run_samples.h"

namespace tracedb {

// `run`: a name in runs. Without a step where no line of its log has the time of an iteration.
Result<RunSamples> ReadLogRun(SqliteDb& db, const QueryCatalog& catalog, const std::string& run,
                              double effect_min);

// Sets used.log.
Status ReadLog(SqliteDb& db, const QueryCatalog& catalog, RunSamples& samples);

}  // namespace tracedb
