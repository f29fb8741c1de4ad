#include <fmt/format.h>
#include <unistd.h>

#include "cli_commands.h"
#include "tracedb/extension/interval_functions.h"
#include "tracedb/query/doc/query_builtin.h"
#include "tracedb/query/run/query_database.h"
#include "tracedb/report/report_page.h"
#include "tracedb/text/output_file.h"

namespace tracedb {

namespace {

Result<SqliteDb> Open(const GlobalOptions& global, const std::atomic<bool>& stop) {
  TRACEDB_ASSIGN(db, OpenTraceDatabase(global.database));
  db.StopWhen(stop);
  if (RegisterIntervalFunctions(db.handle()) != 0) return SqliteError(db.handle(), "");
  return db;
}

}  // namespace

Status RunReport(const GlobalOptions& global, const ReportArguments& arguments,
                 const std::atomic<bool>& stop) {
  TRACEDB_ASSIGN(db, Open(global, stop));
  const ReportOptions options = {TRACEDB_VERSION, [&] { return Open(global, stop); }, arguments.run,
                                 arguments.capture};
  TRACEDB_ASSIGN(catalog, QueryCatalog::Load(BuiltInQueries()));
  TRACEDB_ASSIGN(inputs, TraceFiles(db, arguments.output));
  OutputGuard guard{global.database, std::move(inputs), arguments.force};
  if (arguments.output == "-") {
    DescriptorOutput output(STDOUT_FILENO, "standard output");
    TRACEDB_TRY(WriteReport(db, catalog, options, output));
    return output.Flush();
  }
  TRACEDB_ASSIGN(file, FileOutput::Create(arguments.output, std::move(guard)));
  TRACEDB_TRY(WriteReport(db, catalog, options, *file));
  TRACEDB_TRY(file->Commit());
  SayNote(global,
          fmt::format("{} is the report; it opens in any browser", arguments.output.string()));
  return Done{};
}

}  // namespace tracedb
