#include <unistd.h>

#include <string_view>

#include "cli_commands.h"
#include "tracedb/query/query_command.h"
#include "tracedb/query/query_builtin.h"

namespace tracedb {

// `info` is canned queries under another name, so that it reads and prints like them.
Status RunInfo(const GlobalOptions& global, const InfoOptions& options) {
  TRACEDB_ASSIGN(catalog, QueryCatalog::Load(BuiltInQueries()));
  const bool terminal = isatty(STDOUT_FILENO) == 1;
  const bool sections = !options.issues;
  for (const std::string_view name : {"traces", "streams", "issues"}) {
    if (options.issues != (name == "issues") && options.issues) continue;
    QueryOptions query;
    query.database = global.database;
    query.source = std::string("info_") + std::string(name);
    query.format = options.format.value_or(Format::kTable);
    query.quiet = global.quiet || sections;
    TRACEDB_ASSIGN(outcome, RunQueryCommand(query, catalog));
    if (!outcome.note.empty() && !global.quiet) SayNote(global, outcome.note);
  }
  (void)terminal;
  return Done{};
}

}  // namespace tracedb
