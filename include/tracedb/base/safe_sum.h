// SQL's sum(), but for an answer in place of the error "integer overflow": a sum that does not fit
// 64 bits is a REAL. In every connection of the program, and in the loadable extension.
#pragma once

struct sqlite3;

namespace tracedb {

// A SQLite result code.
int RegisterSafeSum(sqlite3* db);

}  // namespace tracedb
