#include <fmt/format.h>

#include <string_view>
#include <system_error>

#include "cli_commands.h"
#include "cli_functions.h"
#include "tracedb/cut/cut_command.h"
#include "tracedb/query/doc/query_builtin.h"
#include "tracedb/text/result_text.h"

namespace tracedb {
namespace {

// Whoever writes x.xlsx wants something else than a trace. Of a file that is there the guard of
// outputs says more.
Status CheckEnding(const std::filesystem::path& output) {
  const std::string ending = output.extension().string();
  std::error_code error;
  if (std::filesystem::exists(output, error)) return Done{};
  for (const std::string_view other :
       {".xlsx", ".xls", ".ods", ".csv", ".tsv", ".parquet", ".arrow", ".arrows", ".feather",
        ".ndjson", ".jsonl", ".md", ".html", ".pdf", ".png", ".db", ".sqlite", ".sqlite3"}) {
    if (ending != other) continue;
    return Error{
        ErrorKind::kUsage,
        fmt::format("{}: cut writes a trace, which is no {}", ShownText(output.string()),
                    ending.substr(1)),
        fmt::format("write it to {0}.json or {0}.json.gz; rows are written by: tracedb query",
                    ShownText(output.stem().string()))};
  }
  return Done{};
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
