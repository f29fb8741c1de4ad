// As much of SQL's grammar as is needed to find where statements begin and what kind they are.
#pragma once

#include <string>
#include <string_view>

namespace tracedb {

// Without the blanks, comments and empty statements at its start.
std::string_view SkipBlankSql(std::string_view sql);

// The word that says what a statement does: SELECT, INSERT, PRAGMA ..., in upper case. That of
// "WITH ... DELETE" is DELETE, that of "EXPLAIN SELECT" is SELECT. Empty when it has none.
std::string StatementVerb(std::string_view sql);

// Whether a statement is SELECT ... UNION SELECT ..., or the like; not so where a part of it is.
bool IsCompoundSql(std::string_view sql);

// Whether statements of that verb change a database, or what is attached to the connection.
bool VerbChanges(std::string_view verb);

// A PRAGMA statement's name in lower case, without a schema in front.
std::string PragmaName(std::string_view sql);

// name with its quotes doubled, in quotes.
std::string QuoteSqlName(std::string_view name);

}  // namespace tracedb
