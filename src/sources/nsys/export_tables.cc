#include "sources/nsys/export_tables.h"

#include <algorithm>
#include <system_error>

#include "tracedb/base/database_files.h"

namespace tracedb {
namespace {

// No export has as many; more would be somebody's attempt to keep us busy.
constexpr int kTablesMax = 4096;
constexpr int kColumnsMax = 512;
// Longest text or blob. Names of kernels have kilobytes.
constexpr int kTextBytesMax = 64 << 20;

bool HasCompanion(const std::filesystem::path& path) {
  std::error_code error;
  return std::any_of(std::begin(kCompanionEndings), std::end(kCompanionEndings), [&](auto ending) {
    return std::filesystem::exists(CompanionOf(path, ending), error);
  });
}

}  // namespace

Result<SqliteDb> OpenExport(const std::filesystem::path& path, const std::atomic<bool>* stop) {
  // Where a program has left a journal only SQLite's own way of reading gives what was written.
  const SqliteMode mode = HasCompanion(path) ? SqliteMode::kReadOnly : SqliteMode::kFrozen;
  TRACEDB_ASSIGN(db, SqliteDb::Open(path, mode));
  if (stop != nullptr) db.StopWhen(*stop);
  TRACEDB_TRY(db.Distrust(kTextBytesMax));
  TRACEDB_TRY(db.Execute("PRAGMA cache_size = -4096"));
  return db;
}

Result<ExportTables> ExportTables::Read(SqliteDb& db) {
  ExportTables tables;
  TRACEDB_ASSIGN(names, db.Prepare("SELECT name FROM sqlite_master WHERE type = 'table' AND "
                                   "rootpage > 0 AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' "
                                   "LIMIT " +
                                   std::to_string(kTablesMax)));
  for (;;) {
    TRACEDB_ASSIGN(row, names.Step());
    if (!row) break;
    tables.tables_.emplace(names.Text(0), std::vector<std::string>());
  }
  TRACEDB_ASSIGN(columns,
                 db.Prepare("SELECT name FROM pragma_table_xinfo(?1) WHERE hidden = 0 LIMIT " +
                            std::to_string(kColumnsMax)));
  for (auto& [table, found] : tables.tables_) {
    columns.Reset();
    TRACEDB_TRY(columns.Bind(1, std::string_view(table)));
    for (;;) {
      TRACEDB_ASSIGN(row, columns.Step());
      if (!row) break;
      found.emplace_back(columns.Text(0));
    }
  }
  return tables;
}

bool ExportTables::Has(std::string_view table, std::string_view column) const {
  const std::vector<std::string>& columns = Columns(table);
  return std::find(columns.begin(), columns.end(), column) != columns.end();
}

std::vector<std::string> ExportTables::Names() const {
  std::vector<std::string> names;
  for (const auto& [table, columns] : tables_) names.push_back(table);
  return names;
}

const std::vector<std::string>& ExportTables::Columns(std::string_view table) const {
  static const std::vector<std::string> kNone;
  const auto found = tables_.find(table);
  return found == tables_.end() ? kNone : found->second;
}

std::string ExportTables::Select(std::string_view table,
                                 std::span<const std::string_view> columns) const {
  std::string list;
  for (const std::string_view column : columns) {
    if (!list.empty()) list += ", ";
    list += Has(table, column) ? QuotedName(column) : "NULL";
  }
  return list;
}

Result<bool> StepRow(SqliteStatement& rows, uint64_t count, uint64_t rows_max) {
  TRACEDB_ASSIGN(row, rows.Step());
  if (row && count >= rows_max) {
    return Error{ErrorKind::kInput,
                 "a table has more rows than its pages have room for: it is damaged", ""};
  }
  return row;
}

// What lies in a write-ahead log counts as well, so the size of the file does not tell.
Result<uint64_t> RowsMax(SqliteDb& db) {
  constexpr uint64_t kRowBytesMin = 4;
  TRACEDB_ASSIGN(pages, db.Integer("PRAGMA page_count"));
  TRACEDB_ASSIGN(page_bytes, db.Integer("PRAGMA page_size"));
  return static_cast<uint64_t>(pages) * static_cast<uint64_t>(page_bytes) / kRowBytesMin;
}

std::string QuotedName(std::string_view name) {
  std::string quoted = "\"";
  for (const char c : name) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + "\"";
}

}  // namespace tracedb
