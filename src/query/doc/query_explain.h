// The page for people that `--explain` prints.
#pragma once

#include <string>

#include "tracedb/query/doc/query_doc.h"

namespace tracedb {

// Documentation first, then the SQL.
std::string ExplainQuery(const QueryDoc& doc);

}  // namespace tracedb
