// A parameter's value: from the text of -p or of a default to what is bound.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "tracedb/base/result.h"
#include "tracedb/base/sqlite_db.h"
#include "tracedb/query/doc/query_doc.h"

namespace tracedb {

struct QueryValue {
  SqlType type = SqlType::kNull;
  int64_t integer = 0;  // of kInteger
  double real = 0;      // of kReal
  std::string text;     // of kText
};

// The error's text goes on a sentence that names the parameter: "'abc' is no integer".
Result<QueryValue> ParseValueAs(DocType type, std::string_view text);

// An integer if it looks like one, a real if it looks like one, else the text.
QueryValue ParseValueByLooks(std::string_view text);

Status BindValue(SqliteStatement& statement, int parameter, const QueryValue& value);

}  // namespace tracedb
