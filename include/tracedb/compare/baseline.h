// How far runs that are alike lie apart, kept in a file: `tracedb baseline` writes it, and
// compare takes it for the noise between two runs.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "tracedb/base/result.h"
#include "tracedb/compare/comparison.h"

namespace tracedb {

// An error where compare would give no verdict on one of the runs, or on two of them.
Status CheckBaseline(const std::vector<RunUsed>& runs);

// Of two runs at least: a JSON object with each run's step and parts, and their range.
std::string BaselineJson(const std::vector<RunUsed>& runs);

// The runs of such a file: their names, steps and parts, and the facts that tell their job; files
// of version 0.1 have none.
Result<std::vector<RunUsed>> ReadBaseline(const std::filesystem::path& path);

// An error where one of the runs compared is of another job than those of the baseline at `path`.
Status CheckSameJob(const std::vector<RunUsed>& baseline, const Comparison& comparison,
                    const std::filesystem::path& path);

}  // namespace tracedb
