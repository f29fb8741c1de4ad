// Of a database that tracedb gather made: which ranks it is without, and what of a question it
// cannot answer, as only summaries are in it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tracedb/base/result.h"
#include "tracedb/base/sqlite_db.h"
#include "tracedb/query/doc/query_doc.h"

namespace tracedb {

Result<bool> IsGathered(SqliteDb& db);

// Stands in the error of a query that cannot be answered.
inline constexpr std::string_view kGatheredFromSummaries =
    "this database was gathered from summaries";

// How many ranks it is without; 0 of any other database.
Result<int64_t> CountMissingRanks(SqliteDb& db);

// "2 ranks are not in it: ..."; empty where all are, and of any other database.
Result<std::string> MissingRanksNote(SqliteDb& db);

// Tables of events that this SQL reads and of which the ranks' own databases have more; none of any
// other database. SQL that cannot be compiled reads none.
Result<std::vector<std::string>> LeftOutOf(SqliteDb& db, std::string_view sql);

// Whether this query needs events that only the ranks' own databases have.
Result<bool> NeedsRanksOwn(SqliteDb& db, const QueryDoc& doc);

// Where the ranks' databases are: "/local/0.db on node1 (rank 0)" of the first.
Result<std::string> FirstShardPlace(SqliteDb& db);

// What is to be said with an answer; empty of any other database. A documented query that needs
// events which are not there is an error that says where to ask: its answer would be wrong. Whoever
// wrote the SQL gets an answer, and is told.
Result<std::string> NoteOfGathered(SqliteDb& db, const QueryDoc& doc);

}  // namespace tracedb
