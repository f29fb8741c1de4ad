// Whether a database's pages hang together as SQLite's file format says. What SQLite itself only
// finds out when it comes across it may have been written over by then.
#pragma once

#include <atomic>

#include "tracedb/base/result.h"
#include "tracedb/base/sqlite_db.h"

namespace tracedb {

// Looks at the header, the lists of free pages and the trees of all tables and indexes, but not at
// their leaves: of every 500 pages it reads one or so. Each page is in one place, is of the file,
// and all leaves of a tree are equally deep. An Error says which page is not, and of what.
//
// A database in WAL mode is passed over: some of its pages may be elsewhere.
Status CheckPages(SqliteDb& db, const std::atomic<bool>* stop);

// The error of a database that is damaged; `what` says where.
Error DamagedDatabase(const SqliteDb& db, const std::string& what);

}  // namespace tracedb
