// The types that the columns of a result were declared with where they come from.
#pragma once

#include <string>
#include <vector>

#include "tracedb/base/sqlite_db.h"

namespace tracedb {

// kInteger or kReal where a column of the result is one of a table, or of views over it, declared
// so (of a UNION: in its first part, which is all that SQLite tells); else kNull. Of a text nothing
// is said, as SQLite leaves numbers in such columns as they are.
std::vector<SqlType> DeclaredTypes(SqliteDb& db, const std::string& sql);

}  // namespace tracedb
