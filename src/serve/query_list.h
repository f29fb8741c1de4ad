// /queries.csv: all queries that may be asked, and how.
#pragma once

#include "tracedb/base/result.h"
#include "tracedb/query/query_catalog.h"
#include "tracedb/query/result_sink.h"

namespace tracedb {

Status WriteQueryList(const QueryCatalog& catalog, RowSink& sink);

}  // namespace tracedb
