// Memory that SQLite did not get, where its functions do not say so.
#pragma once

#include <cstdint>

namespace tracedb {

// Of how many pieces this thread has been told that SQLite did not get them, since
// WatchSqliteMemory. Some of SQLite's functions take that for an answer: json_valid is 0 then, and
// rows are missing without a word.
uint64_t RefusedSqlitePieces();

// Before SQLite's first use in a process; later it changes nothing.
void WatchSqliteMemory();

}  // namespace tracedb
