// The rank that came late, in the words of a verdict.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "report/report_gains.h"
#include "report/report_verdict.h"

namespace tracedb {

// Charts over time are of the first capture, unless another was asked for. Where the step is of
// another one: who came late there, and who waited, in place of what is known of the first.
Status ReadLateRanks(SqliteDb& db, const QueryCatalog& catalog, const ShownRun& run,
                     const StepKey& key, FactRows& late_ranks, LaneShares& lanes);

// Why the rank came late, by the cause that explains what the step would gain without that; where
// none explains half of it, that this cannot be told.
std::string LateCause(const VerdictFacts& facts, const LaneShares& lanes, int64_t rank,
                      const Gain& gain, int64_t ranks);

// The rank of those in `change` that others waited for longest in the step.
std::optional<int64_t> LatestOf(const VerdictFacts& facts, std::optional<int64_t> step,
                                const std::string& change);

// "; in other steps rank 1 came late", where that costs about as much as what `best` is about; else
// empty.
std::string InOtherSteps(const VerdictFacts& facts, const std::vector<Gain>& all, const Gain& best);

// "; were rank 2, which that hides, not late either: 54.2 ms", where there is such a rank.
std::string AndTheHidden(const VerdictFacts& facts, const std::vector<Gain>& all, const Gain& best);

// Whether a recommendation is about a rank that another one hides: its change is that of both.
bool IsOfHidden(const std::vector<RowValue>& row);

// The ranks whose lateness a change takes away.
std::vector<int64_t> LateRanksOf(const std::string& change);

// Whether no host is known to have made one of these ranks late.
bool AreLateByGpu(const VerdictFacts& facts, const std::vector<int64_t>& ranks);

// "; ranks 4, 5 came late too ...": those of a change besides the one that the sentence names.
std::string AndTheOthers(const std::string& change, int64_t named);

}  // namespace tracedb
