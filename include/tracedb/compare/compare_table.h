// Any number of runs side by side: a row for each, by the parts of a step.
#pragma once

#include <vector>

#include "tracedb/base/result.h"
#include "tracedb/compare/comparison.h"
#include "tracedb/text/result_sink.h"

namespace tracedb {

// Changes are against the first run. Facts that all runs agree in, and parts that no run has, are
// left out. No verdicts: two runs of these are compared by themselves.
Status WriteRunsTable(const std::vector<RunUsed>& runs, RowSink& sink);

}  // namespace tracedb
