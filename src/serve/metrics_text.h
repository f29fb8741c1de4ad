// The figures of the query `metrics` in Prometheus's text format (0.0.4).
#pragma once

#include <string>

#include "tracedb/base/result.h"
#include "tracedb/base/sqlite_db.h"
#include "tracedb/query/doc/query_catalog.h"

namespace tracedb {

inline constexpr const char* kMetricsMediaType = "text/plain; version=0.0.4; charset=utf-8";

// Of all runs, and the version of the program. An error when the query fails or is stopped.
Result<std::string> MetricsText(SqliteDb& db, const QueryCatalog& catalog,
                                const std::string& version);

}  // namespace tracedb
