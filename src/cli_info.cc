#include <unistd.h>

#include <string_view>

#include "cli_commands.h"
#include "tracedb/query/doc/query_builtin.h"
#include "tracedb/query/run/query_command.h"
#include "tracedb/query/run/query_database.h"

namespace tracedb {

Status ShowQuery(const GlobalOptions& global, const QueryCatalog& catalog, const char* name,
                 Format format) {
  QueryOptions query;
  query.database = global.database;
  query.source = name;
  query.format = format;
  query.quiet = global.quiet;
  TRACEDB_ASSIGN(outcome, RunQueryCommand(query, catalog));
  if (!outcome.note.empty()) SayNote(global, outcome.note);
  return Done{};
}

namespace {

Status ShowSchema(const QueryCatalog& catalog, Format format) {
  QueryOptions query;
  query.schema = true;
  query.format = format;
  TRACEDB_TRY(RunQueryCommand(query, catalog));
  return Done{};
}

// A table below another.
Status ShowNext(const GlobalOptions& global, const QueryCatalog& catalog, const char* name) {
  DescriptorOutput output(STDOUT_FILENO, "standard output");
  TRACEDB_TRY(output.Write("\n"));
  TRACEDB_TRY(output.Flush());
  return ShowQuery(global, catalog, name, Format::kTable);
}

Result<bool> HasRunOfSeveralCaptures(const GlobalOptions& global) {
  TRACEDB_ASSIGN(db, OpenTraceDatabase(global.database));
  TRACEDB_ASSIGN(most, db.Integer("SELECT ifnull(max(captures), 0) FROM runs"));
  return most > 1;
}

}  // namespace

// `info` is canned queries under another name, so that it reads and prints like them.
Status RunInfo(const GlobalOptions& global, const InfoOptions& options) {
  TRACEDB_ASSIGN(catalog, QueryCatalog::Load(BuiltInQueries()));
  const Format format = options.format.value_or(Format::kTable);
  if (options.schema) return ShowSchema(catalog, format);
  if (options.issues) return ShowQuery(global, catalog, "info_issues", format);
  // The other formats are for programs: one result each.
  if (format != Format::kTable) return ShowQuery(global, catalog, "info_traces", format);
  TRACEDB_TRY(ShowQuery(global, catalog, "info_runs", format));
  TRACEDB_ASSIGN(several, HasRunOfSeveralCaptures(global));
  if (several) TRACEDB_TRY(ShowNext(global, catalog, "info_captures"));
  TRACEDB_TRY(ShowNext(global, catalog, "info_traces"));
  return ShowNext(global, catalog, "info_streams");
}

}  // namespace tracedb
