#include "ingest/load/database_check.h"

#include <array>
#include <string>

#include "tracedb/pages/page_check.h"
#include "tracedb/schema/event_tables.h"

namespace tracedb {
namespace {

// What one trace adds can never reach the end of 64 bits from here.
constexpr int64_t kIdMax = int64_t{1} << 60;

// The greatest value; 0 when there is no row.
Result<int64_t> Greatest(SqliteDb& db, const std::string& column, const std::string& table) {
  TRACEDB_ASSIGN(exists, db.Integer("SELECT EXISTS (SELECT 1 FROM main.sqlite_schema WHERE type = "
                                    "'table' AND name = '" +
                                    table + "')"));
  if (exists == 0) return DamagedDatabase(db, "table " + table + " is missing");
  TRACEDB_ASSIGN(rows, db.Prepare("SELECT max(" + column + ") FROM main." + table));
  TRACEDB_ASSIGN(any, rows.Step());
  if (!any || rows.Type(0) == SqlType::kNull) return int64_t{0};
  const bool is_id = rows.Type(0) == SqlType::kInteger && rows.Int(0) <= kIdMax;
  if (is_id) return std::max<int64_t>(rows.Int(0), 0);
  return DamagedDatabase(db, table + " has " + std::string(rows.Text(0)) + " as " + column);
}

// The last of its trees is where the last trace says.
Status CheckLast(SqliteDb& db, const std::string& table, int64_t last) {
  TRACEDB_ASSIGN(greatest, Greatest(db, "id", table));
  if (greatest <= last) return Done{};
  return DamagedDatabase(db, table + " has row " + std::to_string(greatest) +
                                 ", and what tracedb wrote ends at " + std::to_string(last));
}

}  // namespace

Result<FirstIds> CheckDatabase(SqliteDb& db, const std::atomic<bool>* stop) {
  TRACEDB_TRY(CheckPages(db, stop));
  TRACEDB_ASSIGN(last_trace, Greatest(db, "trace_id", "_trace"));
  TRACEDB_ASSIGN(last_row, Greatest(db, "last_row", "_trace"));
  TRACEDB_ASSIGN(last_text, Greatest(db, "last_text", "_trace"));
  TRACEDB_ASSIGN(last_path, Greatest(db, "id", "_call_path"));
  for (int i = 0; i < kEventTables; ++i) {
    const std::string table(EventTableName(static_cast<EventTable>(i)));
    TRACEDB_TRY(CheckLast(db, table, last_row));
  }
  for (const char* table : {"_step", "_row_times", "_launch", "_collective_part"}) {
    TRACEDB_TRY(CheckLast(db, table, last_row));
  }
  for (const char* table : {"_event_name", "_track", "_args_text"}) {
    TRACEDB_TRY(CheckLast(db, table, last_text));
  }
  return FirstIds{last_trace + 1, last_row + 1, last_text + 1, last_path + 1};
}

Result<int64_t> LastSource(SqliteDb& db) { return Greatest(db, "source_id", "_source"); }

Result<std::set<std::string>> ChangedTables(SqliteDb& db) {
  std::set<std::string> changed;
  TRACEDB_ASSIGN(
      tables,
      db.Prepare(
          "SELECT t.name, m.name IS NULL FROM fresh.sqlite_schema t LEFT JOIN main.sqlite_schema "
          "m ON m.type = 'table' AND m.name = t.name WHERE t.type = 'table' AND "
          "m.sql IS NOT t.sql"));
  for (;;) {
    TRACEDB_ASSIGN(row, tables.Step());
    if (!row) break;
    if (tables.Int(1) != 0) {
      return DamagedDatabase(db, "table " + std::string(tables.Text(0)) + " is missing");
    }
    changed.emplace(tables.Text(0));
  }
  TRACEDB_ASSIGN(missing,
                 db.Prepare("SELECT name, type, pk FROM pragma_table_info(?1, 'fresh') EXCEPT "
                            "SELECT name, type, pk FROM pragma_table_info(?1, 'main')"));
  for (const std::string& table : changed) {
    TRACEDB_TRY(missing.Bind(1, std::string_view(table)));
    TRACEDB_ASSIGN(any, missing.Step());
    if (any) {
      return DamagedDatabase(
          db, table + " has no column " + std::string(missing.Text(0)) + " as tracedb makes it");
    }
    missing.Reset();
  }
  return changed;
}

}  // namespace tracedb
