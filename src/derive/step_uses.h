// Rows of step_use: a GPU's time in one trace, by step.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "derive/step_partition.h"
#include "tracedb/base/result.h"
#include "tracedb/base/sqlite_db.h"

namespace tracedb {

// Of the trace alone, whatever else there is of its rank.
Status StoreStepUses(SqliteDb& db, int64_t trace_id, std::string_view device,
                     const std::vector<StepUse>& steps);

}  // namespace tracedb
