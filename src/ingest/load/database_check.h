// Whether a database is what an ingest into it relies on; what is damaged is said before anything
// is changed.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "ingest/build/record_builder.h"
#include "tracedb/base/result.h"
#include "tracedb/base/sqlite_db.h"

namespace tracedb {

// Its pages hang together, and no table has a row after those of the traces. Gives the ids that
// come after them.
Result<FirstIds> CheckDatabase(SqliteDb& db, const std::atomic<bool>* stop);

// The highest number of a source; 0: there is none.
Result<int64_t> LastSource(SqliteDb& db);

// A database's tables as they are: its users may have added columns, indexes and triggers.
struct DatabaseTables {
  struct Tree {
    uint32_t root;  // 0 of a trigger
    std::string name;
    std::string sql;
  };
  // By table, as EmptyDatabase::trees() has them, and triggers.
  std::map<std::string, std::vector<Tree>, std::less<>> trees;
  std::set<std::string> changed;  // of ours, those that are not as we make them
  std::set<std::string> with_triggers;
};

// One of ours that is not there is an Error.
Result<DatabaseTables> ReadTables(SqliteDb& db);

// Whether these of its tables have all columns that they have in the attached database `fresh`,
// which is new; else an Error.
Status CheckColumns(SqliteDb& db, const std::set<std::string>& tables);

}  // namespace tracedb
