// `tracedb export`: the answers of several queries as a workbook, a sheet each, or as a folder of
// Parquet files.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "tracedb/base/result.h"
#include "tracedb/base/sqlite_db.h"
#include "tracedb/query/doc/query_catalog.h"

namespace tracedb {

enum class ExportFormat { kWorkbook, kParquet };

struct ExportOptions {
  ExportFormat format = ExportFormat::kWorkbook;
  std::filesystem::path database;
  std::filesystem::path output;  // of a workbook ends with .xlsx, of Parquet files a folder
  bool force = false;            // as OutputGuard has it
  // Canned ones by name, as Parquet also tables; none: those that most people ask.
  std::vector<std::string> queries;
  std::vector<std::string> params;  // "key=value", each for the queries that have it
  std::filesystem::path scratch;    // a folder for a workbook that is on the way, as large as it
  // Of the open connection, before anything is compiled.
  std::function<Status(SqliteDb&)> on_open;
  std::function<void(const std::string& query, size_t number, size_t all)> on_query;
};

struct ExportOutcome {
  size_t answers = 0;  // sheets or files
  int64_t rows = 0;
  std::vector<std::string> notes;  // a line each: what a sheet has no room for
};

// The file, and each in a folder, appears whole or not at all. kUsage where the build writes no
// workbooks and one is wanted.
Result<ExportOutcome> RunExport(const ExportOptions& options, const QueryCatalog& catalog);

}  // namespace tracedb
