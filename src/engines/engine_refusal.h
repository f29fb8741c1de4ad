// Why an engine cannot answer a query from summaries.
#pragma once

#include <string_view>

#include "tracedb/base/result.h"
#include "tracedb/query/doc/query_doc.h"

namespace tracedb {

// A kUsage error that says it: by the tables that the query opens in an empty database.
Error WhyNoEngine(const QueryDoc& doc, std::string_view engine);

}  // namespace tracedb
