// Which rank of one run is which of another: the one with the same part in the job.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "compare/run_reader.h"
#include "compare/side_judge.h"
#include "compare/step_rows.h"

namespace tracedb {

// Sets samples.roles, and samples.has_places where groups tell those of all ranks.
Status ReadRoles(const RunReader& reader, RunSamples& samples);

// Where groups do not tell those of each run, a rank's role is its number in all of them.
void AlignRoles(std::vector<RunSamples>& base, std::vector<RunSamples>& now);

Status ReadCausedWaits(const RunReader& reader, const std::map<StepId, size_t>& places,
                       RunSamples& samples);

// Of each role what ranks wait because of it. Those that changed most first. `least_ns`: a smaller
// change is the same.
std::vector<RankChange> FindRankChanges(const Sides& sides, double least_ns);

// For each of `ranks` of the first run of `side`: its role, and the rank that has it on the other.
std::vector<RankRole> RolesOf(const std::vector<RunSamples>& side,
                              const std::vector<RunSamples>& other,
                              const std::vector<int64_t>& ranks);

}  // namespace tracedb
