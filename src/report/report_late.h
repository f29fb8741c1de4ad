// The rank that came late, in the words of a verdict.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "report/report_gains.h"
#include "report/report_verdict.h"

namespace tracedb {

// What is known of a rank that came late in a step: of all causes that with the longest waits.
std::string LateCause(const VerdictFacts& facts, const LaneShares& lanes, int64_t rank,
                      const Gain& gain, int64_t ranks);

// The rank of those in `change` that others waited for longest in the step.
std::optional<int64_t> LatestOf(const VerdictFacts& facts, std::optional<int64_t> step,
                                const std::string& change);

}  // namespace tracedb
