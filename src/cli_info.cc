#include <string_view>

#include "cli_commands.h"
#include "tracedb/query/doc/query_builtin.h"
#include "tracedb/query/run/query_command.h"
#include "tracedb/query/run/query_database.h"

namespace tracedb {

Status ShowQuery(const GlobalOptions& global, const QueryCatalog& catalog, const char* name,
                 Format format, OutputStream& output) {
  QueryOptions query;
  query.database = global.database;
  query.source = name;
  query.format = format;
  query.quiet = global.quiet;
  query.stream = &output;
  TRACEDB_ASSIGN(outcome, RunQueryCommand(query, catalog));
  TRACEDB_TRY(output.Flush());
  static std::string said;  // of a gathered database each of several tables would say it
  if (!outcome.note.empty() && outcome.note != said) SayNote(global, outcome.note);
  said = outcome.note;
  return Done{};
}

namespace {

Status ShowSchema(const GlobalOptions& global, const QueryCatalog& catalog, Format format) {
  QueryOptions query;
  query.schema = true;
  query.format = format;
  query.pager = !global.no_pager;
  TRACEDB_TRY(RunQueryCommand(query, catalog));
  return Done{};
}

Result<bool> HasRunOfSeveralCaptures(const GlobalOptions& global) {
  TRACEDB_ASSIGN(db, OpenTraceDatabase(global.database));
  TRACEDB_ASSIGN(most, db.Integer("SELECT ifnull(max(captures), 0) FROM runs"));
  return most > 1;
}

Result<bool> HasSources(const GlobalOptions& global) {
  TRACEDB_ASSIGN(db, OpenTraceDatabase(global.database));
  TRACEDB_ASSIGN(any, db.Integer("SELECT EXISTS (SELECT 1 FROM sources)"));
  return any != 0;
}

// Tables below each other.
Status ShowTables(const GlobalOptions& global, const QueryCatalog& catalog, OutputStream& output) {
  const auto show = [&](const char* name) {
    return ShowQuery(global, catalog, name, Format::kTable, output);
  };
  const auto show_next = [&](const char* name) -> Status {
    TRACEDB_TRY(output.Write("\n"));
    return show(name);
  };
  TRACEDB_TRY(show("info_runs"));
  TRACEDB_ASSIGN(several, HasRunOfSeveralCaptures(global));
  if (several) TRACEDB_TRY(show_next("info_captures"));
  TRACEDB_TRY(show_next("info_traces"));
  TRACEDB_ASSIGN(others, HasSources(global));
  if (others) TRACEDB_TRY(show_next("info_sources"));
  return show_next("info_streams");
}

}  // namespace

// `info` is canned queries under another name, so that it reads and prints like them.
Status RunInfo(const GlobalOptions& global, const InfoOptions& options) {
  TRACEDB_ASSIGN(catalog, QueryCatalog::Load(BuiltInQueries()));
  const Format format = options.format.value_or(Format::kTable);
  if (options.schema) return ShowSchema(global, catalog, format);
  return WriteForPerson(global, [&](OutputStream& output) {
    // The other formats are for programs: one result each.
    const bool is_table = format == Format::kTable;
    if (is_table && !options.issues) return ShowTables(global, catalog, output);
    const char* name = options.issues ? "info_issues" : "info_traces";
    return ShowQuery(global, catalog, name, format, output);
  });
}

}  // namespace tracedb
