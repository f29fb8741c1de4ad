// In what runs differ beside the times: between the sides, and within one of them.
#pragma once

#include <string>
#include <vector>

#include "compare/side_judge.h"
#include "tracedb/compare/comparison.h"

namespace tracedb {

// What of a run was lost, so that its times are not its own; empty: nothing that matters.
std::string WhyLost(const RunUsed& run);

// Are more of its GPU activities without a launch, and so in no operator, than matters?
bool HasUnlaunched(const RunUsed& run);

// Between base and new; those that decide first, then arguments of the job. A fact of which the
// sides have the same values is none, unless it says that something was lost.
std::vector<FactDifference> FindDifferences(const Sides& sides);

// Facts in which the runs of one side are not alike; those that decide first.
std::vector<UnlikeRuns> FindUnlikeRuns(const Sides& sides);

}  // namespace tracedb
