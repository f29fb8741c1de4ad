// Why a verdict may be wrong, or none can be given: what the recorder did not see.
#pragma once

#include "report/report_gains.h"
#include "report/report_verdict.h"

namespace tracedb {

// From here on a verdict of "nothing stands out" would be about what was recorded, not the job.
constexpr double kUnexplainedPctMin = 50;

// Of the critical path of the steps of which critical_path_by tells, and which are asked about: how
// much no recorded event explains. A lower bound, as it has the largest shares of a step only.
double UnexplainedPct(const VerdictFacts& facts, const Gains& gains);

// Says so in the sentence where most of a GPU's activities have no launch: what the GPU waited for
// is not known then.
Status AddDoubtOfLaunches(SqliteDb& db, const QueryCatalog& catalog, const ShownRun& run,
                          const VerdictFacts& facts, PageVerdict& verdict);

// Says so in the sentence where waits of the run are between clocks that were never compared, or
// that were set while it ran.
Status AddDoubtOfClocks(SqliteDb& db, const QueryCatalog& catalog, const ShownRun& run,
                        const VerdictFacts& facts, PageVerdict& verdict);

}  // namespace tracedb
