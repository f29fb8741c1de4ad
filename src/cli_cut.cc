#include <fmt/format.h>

#include <filesystem>

#include "cli_commands.h"
#include "cli_functions.h"
#include "tracedb/cut/cut_command.h"
#include "tracedb/query/doc/query_builtin.h"
#include "tracedb/text/output_file.h"
#include "tracedb/text/result_text.h"

namespace tracedb {
namespace {

Status CheckEnding(const std::filesystem::path& output) {
  if (!IsNewFileNamed(output, {".xlsx", ".xls", ".ods", ".csv", ".tsv", ".parquet", ".arrow",
                               ".arrows", ".feather", ".ndjson", ".jsonl", ".md", ".html", ".pdf",
                               ".png", ".db", ".sqlite", ".sqlite3"})) {
    return Done{};
  }
  return Error{
      ErrorKind::kUsage,
      fmt::format("{}: cut writes a trace, which is no {}", ShownText(output.string()),
                  EndingOf(output).substr(1)),
      fmt::format("write it to {0}.json or {0}.json.gz; rows are written by: tracedb query",
                  ShownText(output.stem().string()))};
}

}  // namespace

Status RunCut(const GlobalOptions& global, const CutOptions& options,
              const std::atomic<bool>& stop) {
  TRACEDB_TRY(CheckEnding(options.output));
  CutOptions told = options;
  told.database = global.database;
  told.on_open = [](SqliteDb& db) -> Status { return AddFunctions(db); };
  if (options.critical_path) {
    TRACEDB_ASSIGN(catalog, QueryCatalog::Load(BuiltInQueries()));
    TRACEDB_ASSIGN(query, catalog.Get("critical_path"));
    told.path_sql = query->sql;
  }
  TRACEDB_ASSIGN(report, CutTrace(told, stop));
  for (const std::string& note : report.notes) SayNote(global, note);
  if (options.output != "-") {
    SayNote(global, fmt::format("{}: {} event{} ({} slice{})", options.output.string(),
                                report.events, report.events == 1 ? "" : "s", report.slices,
                                report.slices == 1 ? "" : "s"));
  }
  return Done{};
}

}  // namespace tracedb
