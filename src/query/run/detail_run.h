// `tracedb query NAME --detail`: a query that a gathered database cannot answer, asked of the own
// databases of the ranks that are named.
#pragma once

#include <functional>

#include "tracedb/base/result.h"
#include "tracedb/query/run/query_command.h"
#include "tracedb/query/run/query_run.h"
#include "tracedb/query/run/rank_database.h"

namespace tracedb {

// The places that the parameters name; an error where the query's rows cannot come from there.
Result<std::vector<RankPlace>> PlacesOfDetail(SqliteDb& gathered, const QueryDoc& doc,
                                              const std::vector<std::string>& params);

// One rank after the other, their rows as one result.
Result<QueryOutcome> RunDetail(const QueryOptions& options, const QueryDoc& doc,
                               const std::vector<RankPlace>& places, RowSink& sink);

}  // namespace tracedb
