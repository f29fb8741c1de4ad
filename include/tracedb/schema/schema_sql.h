// The SQL that makes a database: tables.sql, views*.sql beside it, with the columns that are
// listed elsewhere filled in.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "tracedb/schema/args_columns.h"
#include "tracedb/schema/event_tables.h"

namespace tracedb {

// All values, those first that the table's rows have most often: a row ends with its last value.
const std::array<ArgsColumn, kArgsColumns>& ArgsColumnOrder(EventTable table);

// The tables, ready to execute on an empty database; and the views of a finished one. A connection
// reads all of a database's schema, and most of that is views: while one is made it has none.
std::string TablesSql();
std::string ViewsSql();

// The same views, each as the row of sqlite_schema that SQLite would make of it. What is built has
// them ready: EmptyDatabase::views().
struct ViewRow {
  std::string name;
  std::string sql;
};
std::vector<ViewRow> ViewRows();

}  // namespace tracedb
