// What the page of a gathered database says first.
#pragma once

#include "report/report_verdict.h"

namespace tracedb {

// Of a gathered database, which cannot be replayed: the rank for which each of the others waited
// longest in a step, or that none stands out; how much shorter the step would be is not told.
PageVerdict VerdictOfSummaries(const VerdictFacts& facts);

}  // namespace tracedb
