// /tables/<name>.csv as a query: the names of tables and columns are looked up in the database, and
// what is not there is nothing that gets into SQL.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tracedb/base/result.h"
#include "tracedb/base/sqlite_db.h"
#include "tracedb/query/doc/query_doc.h"

namespace tracedb {

// Tables and views; first those for people, which are views.
struct TableName {
  std::string name;
  bool is_view = false;
};
Result<std::vector<TableName>> ListTables(SqliteDb& db);
Result<std::vector<std::string>> ListColumns(SqliteDb& db, std::string_view table);

// What a spreadsheet has rows for, the header's among them.
inline constexpr int64_t kExcelRowsMax = 1'048'576;

// The query for all rows of `table`, which exists, with parameters `limit` and `offset`. `order`
// names columns, parted by commas, with a '-' in front of those that go down; it may be empty. One
// that is not there is a kUsage error.
Result<QueryDoc> MakeTableQuery(SqliteDb& db, std::string_view table, std::string_view order);

Result<bool> HasTable(SqliteDb& db, std::string_view table);
// How many rows a table's query gives for these parameters ("limit=5"); `rows_max` when they are as
// many or more.
Result<int64_t> CountAskedRows(SqliteDb& db, std::string_view table,
                               const std::vector<std::string>& params, int64_t rows_max);
// How many rows the table has; `rows_max` when it has as many or more.
Result<int64_t> CountRows(SqliteDb& db, std::string_view table, int64_t rows_max);

}  // namespace tracedb
