#include "ingest/load/database_check.h"

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "tracedb/pages/page_check.h"
#include "tracedb/schema/empty_database.h"
#include "tracedb/schema/event_tables.h"

namespace tracedb {
namespace {

// What one trace adds can never reach the end of 64 bits from here.
constexpr int64_t kIdMax = int64_t{1} << 60;

struct NumberedTable {
  std::string table;
  const char* column;
};

Status CheckTablesAreThere(SqliteDb& db, const std::vector<NumberedTable>& tables) {
  std::set<std::string> names;
  TRACEDB_ASSIGN(rows, db.Prepare("SELECT name FROM main.sqlite_schema WHERE type = 'table'"));
  for (;;) {
    TRACEDB_ASSIGN(row, rows.Step());
    if (!row) break;
    names.emplace(rows.Text(0));
  }
  for (const NumberedTable& each : tables) {
    if (!names.contains(each.table)) {
      return DamagedDatabase(db, "table " + each.table + " is missing");
    }
  }
  return Done{};
}

// The greatest value of each column; 0 where there is no row. One statement: to prepare one for
// each took longer than to run them.
Result<std::vector<int64_t>> Greatest(SqliteDb& db, const std::vector<NumberedTable>& tables) {
  TRACEDB_TRY(CheckTablesAreThere(db, tables));
  std::string sql;
  for (const NumberedTable& each : tables) {
    sql += (sql.empty() ? "SELECT (SELECT max(" : ", (SELECT max(") + std::string(each.column) +
           ") FROM main." + each.table + ")";
  }
  TRACEDB_ASSIGN(rows, db.Prepare(sql));
  TRACEDB_ASSIGN(any, rows.Step());
  std::vector<int64_t> greatest(tables.size(), 0);
  if (!any) return greatest;
  for (size_t i = 0; i < tables.size(); ++i) {
    const int column = static_cast<int>(i);
    if (rows.Type(column) == SqlType::kNull) continue;
    const bool is_id = rows.Type(column) == SqlType::kInteger && rows.Int(column) <= kIdMax;
    if (!is_id) {
      return DamagedDatabase(db, tables[i].table + " has " + std::string(rows.Text(column)) +
                                     " as " + tables[i].column);
    }
    greatest[i] = std::max<int64_t>(rows.Int(column), 0);
  }
  return greatest;
}

}  // namespace

Result<FirstIds> CheckDatabase(SqliteDb& db, const std::atomic<bool>* stop) {
  TRACEDB_TRY(CheckPages(db, stop));
  std::vector<NumberedTable> tables = {{"_trace", "trace_id"},
                                       {"_trace", "last_row"},
                                       {"_trace", "last_text"},
                                       {"_call_path", "id"}};
  const size_t first_of_rows = tables.size();
  for (int i = 0; i < kEventTables; ++i) {
    tables.push_back({std::string(EventTableName(static_cast<EventTable>(i))), "id"});
  }
  for (const char* table : {"_step", "_row_times", "_launch", "_collective_part"}) {
    tables.push_back({table, "id"});
  }
  const size_t first_of_texts = tables.size();
  for (const char* table : {"_event_name", "_track", "_args_text"}) tables.push_back({table, "id"});
  TRACEDB_ASSIGN(greatest, Greatest(db, tables));
  const int64_t last_row = greatest[1];
  const int64_t last_text = greatest[2];
  // The last of each tree is where the last trace says.
  for (size_t i = first_of_rows; i < tables.size(); ++i) {
    const int64_t last = i < first_of_texts ? last_row : last_text;
    if (greatest[i] > last) {
      return DamagedDatabase(db, tables[i].table + " has row " + std::to_string(greatest[i]) +
                                     ", and what tracedb wrote ends at " + std::to_string(last));
    }
  }
  return FirstIds{greatest[0] + 1, last_row + 1, last_text + 1, greatest[3] + 1};
}

Result<int64_t> LastSource(SqliteDb& db) {
  TRACEDB_ASSIGN(greatest, Greatest(db, {{"_source", "source_id"}}));
  return greatest.front();
}

Result<DatabaseTables> ReadTables(SqliteDb& db) {
  DatabaseTables tables;
  TRACEDB_ASSIGN(rows, db.Prepare(EmptyDatabase::kTreesSql));
  for (;;) {
    TRACEDB_ASSIGN(row, rows.Step());
    if (!row) break;
    const std::string table(rows.Text(0));
    if (rows.Int(5) != 0) tables.with_triggers.insert(table);
    tables.trees[table].push_back(
        {static_cast<uint32_t>(rows.Int(2)), std::string(rows.Text(3)), std::string(rows.Text(4))});
  }
  for (const EmptyDatabase::Tree& ours : EmptyDatabase::trees()) {
    if (ours.name != ours.table) continue;  // an index
    const auto found = tables.trees.find(ours.table);
    if (found == tables.trees.end() || found->second.front().name != ours.name) {
      return DamagedDatabase(db, "table " + std::string(ours.table) + " is missing");
    }
    if (found->second.front().sql != ours.sql) tables.changed.emplace(ours.table);
  }
  return tables;
}

Status CheckColumns(SqliteDb& db, const std::set<std::string>& tables) {
  if (tables.empty()) return Done{};
  TRACEDB_ASSIGN(missing,
                 db.Prepare("SELECT name, type, pk FROM pragma_table_info(?1, 'fresh') EXCEPT "
                            "SELECT name, type, pk FROM pragma_table_info(?1, 'main')"));
  for (const std::string& table : tables) {
    TRACEDB_TRY(missing.Bind(1, std::string_view(table)));
    TRACEDB_ASSIGN(any, missing.Step());
    if (any) {
      return DamagedDatabase(
          db, table + " has no column " + std::string(missing.Text(0)) + " as tracedb makes it");
    }
    missing.Reset();
  }
  return Done{};
}

}  // namespace tracedb
