// What `--explain --format json` prints: a query's documentation for programs.
#pragma once

#include <string>

#include "tracedb/query/doc/query_doc.h"

namespace tracedb {

// One object, on one line without its end: query, title, description, params (name, type, unit,
// list, required, default, text), columns (name, type, unit, text), plot (kind, values, over, by;
// null: none), when_empty, meaning, advice, sql.
std::string QueryAsJson(const QueryDoc& doc);

}  // namespace tracedb
