// Which tables and columns an export has. They come and go with its version and with what was
// recorded.
#pragma once

#include <atomic>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tracedb/base/result.h"
#include "tracedb/base/sqlite_db.h"

namespace tracedb {

// For reading a file that nobody vouches for. Nothing is left beside it.
Result<SqliteDb> OpenExport(const std::filesystem::path& path, const std::atomic<bool>* stop);

class ExportTables {
 public:
  static Result<ExportTables> Read(SqliteDb& db);

  bool Has(std::string_view table) const { return tables_.find(table) != tables_.end(); }
  bool Has(std::string_view table, std::string_view column) const;
  // Names of all tables, sorted.
  std::vector<std::string> Names() const;
  // Those of a table in their order.
  const std::vector<std::string>& Columns(std::string_view table) const;
  // "a", NULL, "c": where the table has no such column its place is kept.
  std::string Select(std::string_view table, std::span<const std::string_view> columns) const;
  std::string Select(std::string_view table,
                     std::initializer_list<std::string_view> columns) const {
    return Select(table, std::span(columns.begin(), columns.size()));
  }

 private:
  std::map<std::string, std::vector<std::string>, std::less<>> tables_;
};

// The next row, after `count` of them. An error where a table has more than `rows_max`: its pages
// are then children of one another.
Result<bool> StepRow(SqliteStatement& rows, uint64_t count, uint64_t rows_max);
// More rows than the pages of the database have room for, however small they are.
Result<uint64_t> RowsMax(SqliteDb& db);

// A name as SQL writes it.
std::string QuotedName(std::string_view name);

}  // namespace tracedb
