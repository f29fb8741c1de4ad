// What a query is about, as a page for people.
#pragma once

#include <cstddef>
#include <string>

#include "tracedb/query/doc/query_doc.h"

namespace tracedb {

// What `--explain` prints: documentation first, then the SQL. Prose is in lines of at most `width`
// characters; 0: as the header has it.
std::string ExplainQuery(const QueryDoc& doc, size_t width = 0);

// What `--help` prints after the query's name: how it is called, and its documentation.
std::string QueryHelp(const QueryDoc& doc, size_t width);

}  // namespace tracedb
