// /queries.csv: all queries that may be asked, and how.
#pragma once

#include "tracedb/base/result.h"
#include "tracedb/query/doc/query_catalog.h"
#include "tracedb/text/result_sink.h"

namespace tracedb {

Status WriteQueryList(const QueryCatalog& catalog, RowSink& sink);

}  // namespace tracedb
