// A database as one self-contained HTML page: figures, charts and tables of the canned queries and
// of doctor's checks. Knows neither where the page goes nor where the database comes from.
#pragma once

#include <string>
#include <string_view>

#include "tracedb/base/result.h"
#include "tracedb/base/sqlite_db.h"
#include "tracedb/query/output_stream.h"
#include "tracedb/query/query_catalog.h"

namespace tracedb {

// The page depends on the database and the catalog alone: the same bytes each time. About 0.4 MB;
// results are thinned so that it stays below 3 MB, and the page says what was left out. Parts whose
// query the catalog does not have are not on it. `version` is the program's.
Status WriteReport(SqliteDb& db, const QueryCatalog& catalog, std::string_view version,
                   OutputStream& output);

// The Content-Security-Policy that the page has in itself, for a header: nothing is loaded, and
// only its own scripts and style, told by their hashes, are used.
std::string ReportPolicy();

}  // namespace tracedb
