// What ran on the GPU, by where it was launched: rows of kernels and of operators.
#pragma once

#include <map>
#include <vector>

#include "compare/step_rows.h"

namespace tracedb {

// Rows of the kinds kernel and kGpuRow, samples.kernel_places and, where single activities are in
// the database, samples.kernel_ns. Else (of summaries) a row's place is its innermost operator, and
// samples.has_paths stays false. `plain`: without the parameter `whole`.
Status ReadKernelRows(const RunReader& reader, const RunReader& plain,
                      const std::map<StepId, size_t>& places, RunSamples& samples);

// Makes places of both sides comparable. Operators and modules that are on one side alone are no
// piece of a place: one that is put around others, as checkpointing does, moves nothing. Where one
// of the runs has no paths at all, places of the others are their innermost operators too.
void AlignPlaces(std::vector<RunSamples>& base, std::vector<RunSamples>& now);

}  // namespace tracedb
