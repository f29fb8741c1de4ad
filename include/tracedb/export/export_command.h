// `tracedb export -o job.xlsx`: the answers of several queries as a workbook, a sheet each.
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

struct ExportOptions {
  std::filesystem::path database;
  std::filesystem::path output;      // ends with .xlsx
  bool force = false;                // as OutputGuard has it
  std::vector<std::string> queries;  // canned ones by name; none: those that most people ask
  std::vector<std::string> params;   // "key=value", each for the queries that have it
  std::filesystem::path scratch;     // a folder for what is on the way, about the workbook's size
  // Of the open connection, before anything is compiled.
  std::function<Status(SqliteDb&)> on_open;
  std::function<void(const std::string& query, size_t number, size_t all)> on_query;
};

struct ExportOutcome {
  size_t sheets = 0;
  int64_t rows = 0;
  std::vector<std::string> notes;  // a line each: what a sheet has no room for
};

// The file appears whole or not at all. kUsage where the build writes no workbooks.
Result<ExportOutcome> RunExport(const ExportOptions& options, const QueryCatalog& catalog);

}  // namespace tracedb
