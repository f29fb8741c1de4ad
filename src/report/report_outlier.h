// A step that takes much longer than the others: by how much, what it has more of, and whether
// anybody made others wait in it.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "report/report_gains.h"
#include "report/report_verdict.h"

namespace tracedb {

struct Outlier {
  StepKey key;
  double ms = 0;
  double median_ms = 0;   // of the steps of its capture
  bool is_first = false;  // of its capture

  double more_ms() const { return ms - median_ms; }
};

// Of a capture with three steps or more, if it takes half as long again as their median.
std::optional<Outlier> OutlierAt(const Gains& gains, const StepKey& key);

// All of them.
std::set<StepKey> OutliersOf(const Gains& gains);

// The longest of all steps, if it is one.
std::optional<Outlier> LongestOutlier(const Gains& gains);

// Adds a sentence about the step that the verdict is about, or the longest, where it is so much
// longer and no rank that came late (`best`, which may be null) explains that. Of a first step that
// is slow on all ranks alike that is all that is said: what it could do without is no advice.
Status AddOutlier(SqliteDb& db, const QueryCatalog& catalog, const ShownRun& run,
                  const VerdictFacts& facts, const Gains& gains, const Gain* best,
                  PageVerdict& verdict);

}  // namespace tracedb
