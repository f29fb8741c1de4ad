// A query that an export asks, with its parameters.
#pragma once

#include <string>
#include <vector>

#include "tracedb/query/doc/query_doc.h"

namespace tracedb {

struct AskedQuery {
  const QueryDoc* doc = nullptr;
  std::vector<std::string> params;  // "key=value"
};

}  // namespace tracedb
