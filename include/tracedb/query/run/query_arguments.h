// What -p gives, and what the header's defaults give, bound to the parameters of statements.
#pragma once

#include <span>
#include <string>

#include "tracedb/base/result.h"
#include "tracedb/base/sqlite_db.h"
#include "tracedb/query/doc/query_doc.h"

namespace tracedb {

// Every parameter of every statement gets a value, or a kUsage error lists the parameters there
// are. `params` are "key=value" with the name as the key, or the number of a parameter without one.
Status BindArguments(std::span<SqliteStatement> statements, const QueryDoc& doc,
                     std::span<const std::string> params);

}  // namespace tracedb
