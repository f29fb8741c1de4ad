#include <fmt/format.h>

#include "cli_changes.h"
#include "cli_commands.h"
#include "cli_functions.h"
#include "tracedb/query/doc/query_builtin.h"
#include "tracedb/query/run/query_command.h"
#include "tracedb/text/near_name.h"
#include "tracedb/text/result_text.h"

namespace tracedb {
namespace {

constexpr int64_t kNamesMax = 20'000;  // among which a like one is looked for

Status CheckName(SqliteDb& db, const JobChanges::Name& name) {
  TRACEDB_ASSIGN(found, db.Prepare("SELECT 1 FROM names WHERE name " + name.how + " ?1 LIMIT 1"));
  TRACEDB_TRY(found.Bind(1, name.text));
  TRACEDB_ASSIGN(any, found.Step());
  if (any) return Done{};
  std::vector<std::string> names;
  TRACEDB_ASSIGN(rows,
                 db.Prepare("SELECT DISTINCT name FROM names WHERE name IS NOT NULL LIMIT ?1"));
  TRACEDB_TRY(rows.Bind(1, kNamesMax));
  for (;;) {
    TRACEDB_ASSIGN(row, rows.Step());
    if (!row) break;
    names.emplace_back(rows.Text(0));
  }
  const auto near = NearNames(name.text, names);
  return Error{
      ErrorKind::kUsage,
      fmt::format("no event's name {} {}", name.how == "=" ? "is" : name.how, ShownText(name.text)),
      near.empty() ? "names are those of: tracedb query -c 'SELECT DISTINCT name FROM names'"
                   : DidYouMean(near)};
}

// A rank or a step that has none of them: without it that reads as if they cost nothing.
Status CheckPlace(SqliteDb& db, const JobChanges::Name& name) {
  if (name.rank.empty() && name.step.empty()) return Done{};
  TRACEDB_ASSIGN(is_summed, db.Integer("SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE name = "
                                       "'_left_out')"));
  if (is_summed != 0) return Done{};  // it has no slices of the host
  TRACEDB_ASSIGN(found,
                 db.Prepare("SELECT 1 FROM slices s WHERE s.name " + name.how +
                            " ?1 AND (?2 = '' OR s.rank = CAST(?2 AS INTEGER)) AND (?3 = '' OR "
                            "EXISTS (SELECT 1 FROM steps p WHERE p.trace_id = s.trace_id "
                            "  AND p.step = CAST(?3 AS INTEGER) "
                            "  AND s.ts_ns BETWEEN p.ts_ns AND p.ts_ns + p.dur_ns) "
                            "OR s.slice_id IN (SELECT k.slice_id FROM kernels k "
                            "  WHERE k.step = CAST(?3 AS INTEGER))) LIMIT 1"));
  TRACEDB_TRY(found.Bind(1, name.text));
  TRACEDB_TRY(found.Bind(2, name.rank));
  TRACEDB_TRY(found.Bind(3, name.step));
  TRACEDB_ASSIGN(any, found.Step());
  if (any) return Done{};
  return Error{
      ErrorKind::kUsage,
      fmt::format("no event's name {} {}{}{}", name.how == "=" ? "is" : name.how,
                  ShownText(name.text), name.rank.empty() ? "" : " on rank " + name.rank,
                  name.step.empty() ? "" : " in step " + name.step),
      "where there are some: tracedb query -c 'SELECT DISTINCT rank FROM slices WHERE name "
      "= ...'"};
}

Status CheckRank(SqliteDb& db, const std::string& rank) {
  TRACEDB_ASSIGN(found, db.Prepare("SELECT 1 FROM ranks WHERE rank = CAST(?1 AS INTEGER) LIMIT 1"));
  TRACEDB_TRY(found.Bind(1, rank));
  TRACEDB_ASSIGN(any, found.Step());
  if (any) return Done{};
  return Error{ErrorKind::kUsage, "there is no rank " + rank + " in this database",
               "tracedb info says which ranks there are"};
}

QueryOptions OptionsOf(const GlobalOptions& global, const WhatIfArguments& arguments,
                       const JobChanges& changes, const std::atomic<bool>& stop) {
  QueryOptions options;
  options.database = global.database;
  options.params = {"changes=" + changes.json};
  if (!arguments.run.empty()) options.params.push_back("run=" + arguments.run);
  if (arguments.capture.has_value()) {
    options.params.push_back(fmt::format("capture={}", *arguments.capture));
  }
  if (arguments.step.has_value()) options.params.push_back(fmt::format("step={}", *arguments.step));
  options.format = arguments.format;
  options.quiet = global.quiet;
  options.on_open = [&changes, &stop](SqliteDb& db) -> Status {
    db.StopWhen(stop);
    TRACEDB_TRY(AddFunctions(db));
    for (const JobChanges::Name& name : changes.names) TRACEDB_TRY(CheckName(db, name));
    for (const std::string& rank : changes.ranks) TRACEDB_TRY(CheckRank(db, rank));
    for (const JobChanges::Name& name : changes.names) TRACEDB_TRY(CheckPlace(db, name));
    return Done{};
  };
  return options;
}

}  // namespace

Status RunWhatIf(const GlobalOptions& global, const WhatIfArguments& arguments,
                 const std::atomic<bool>& stop) {
  TRACEDB_ASSIGN(changes, ReadChanges(arguments));
  const bool is_one = arguments.format == Format::kJson || !arguments.output.empty();
  if (arguments.critical && is_one) {
    return Error{ErrorKind::kUsage, "--critical gives a second table: not with --format json or -o",
                 "ask for it by itself: tracedb query critical_path_by -p changes=..."};
  }
  TRACEDB_ASSIGN(catalog, QueryCatalog::Load(BuiltInQueries()));
  QueryOptions options = OptionsOf(global, arguments, changes, stop);
  options.source = "what_if";
  options.output = arguments.output;
  options.force = arguments.force;
  TRACEDB_ASSIGN(outcome, RunQueryCommand(options, catalog));
  if (!outcome.note.empty()) SayNote(global, outcome.note);
  if (!arguments.critical) return Done{};
  options.source = "critical_path_by";
  options.output.clear();
  TRACEDB_ASSIGN(path, RunQueryCommand(options, catalog));
  if (!path.note.empty() && path.note != outcome.note) SayNote(global, path.note);
  return Done{};
}

}  // namespace tracedb
