// What the page of a gathered database says first.
#pragma once

#include "report/report_verdict.h"

namespace tracedb {

// Of a gathered database, of which collectives alone can be replayed: the rank for which each of
// the others waited longest in a step, and what the step would take without, or that none stands
// out.
Result<PageVerdict> VerdictOfSummaries(SqliteDb& db, const QueryCatalog& catalog,
                                       const VerdictFacts& facts);

}  // namespace tracedb
