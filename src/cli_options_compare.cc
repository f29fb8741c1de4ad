#include <CLI/CLI.hpp>

#include "cli_options_parts.h"

namespace tracedb {
namespace {

void AddRuns(CLI::App& app, const char* name, std::vector<std::string>& runs, const char* help) {
  app.add_option(name, runs, help)->type_name("RUN");
}

void AddCompareOptions(CLI::App& app, CompareArguments& arguments) {
  AddRuns(app, "RUN", arguments.inputs,
          "BASE NEW: databases, or traces and folders, which go into a temporary database "
          "($TMPDIR); where one holds several runs: FILE.db#RUN");
  AddRuns(app, "--base", arguments.base, "several runs that are alike, before the change");
  AddRuns(app, "--new", arguments.now, "several runs that are alike, with the change");
  app.add_option("--min-effect", arguments.effect_min, "a smaller change is the same (default 1%)")
      ->type_name("PCT");
  app.add_option("--baseline", arguments.baseline,
                 "how far runs that are alike lie apart, as `tracedb baseline` has written it")
      ->type_name("FILE");
  app.add_option("--gate", arguments.gate, "fail where a step is slower by more than this")
      ->type_name("PCT");
  app.add_option_function<std::string>(
         "--cannot-tell",
         [&arguments](const std::string& value) { arguments.cannot_tell_passes = value == "pass"; },
         "whether --gate passes where it cannot be told (default fail)")
      ->check(CLI::IsMember({"pass", "fail"}))
      ->type_name("pass|fail");
  app.add_flag("--critical-path", arguments.critical_path,
               "what of the critical path changed, too: each run is replayed");
  app.add_flag("--table", arguments.table, "any number of runs: a row for each, by parts");
  app.add_option("--rows", arguments.rows_max, "what changed: so many rows of it (default 15)")
      ->type_name("N");
  app.add_option("-c,--command", arguments.command,
                 "instead: run this SQL over compare_parts, compare_rows, compare_differences and "
                 "the databases of both sides, base.kernels, new.kernels ...")
      ->type_name("SQL");
  app.add_option("--format", arguments.format,
                 "text, json, markdown or html (default text); with --table or -c also table, csv, "
                 "tsv, ndjson")
      ->check(CLI::IsMember({"text", "json", "markdown", "html", "table", "csv", "tsv", "ndjson"}))
      ->type_name("FORMAT");
  AddOutput(app, arguments.output, arguments.force);
  app.footer(
      "Exit codes: 0 compared; with --gate 0 same or faster or slower by less, 3 slower, 5 cannot "
      "tell; 4 not comparable, 1 it failed, 2 wrong usage.\n"
      "\nExamples:\n"
      "  tracedb compare before.db after.db\n"
      "  tracedb compare --base a1.db a2.db a3.db --new b1.db b2.db b3.db --gate 3%\n"
      "  tracedb compare jobs.db#monday jobs.db#tuesday --format markdown");
}

void AddBaselineOptions(CLI::App& app, BaselineArguments& arguments) {
  AddRuns(app, "RUN", arguments.inputs, "runs that are alike, two at least, as compare takes them");
  AddOutput(app, arguments.output, arguments.force, " (default baseline.json)");
  app.footer(
      "Examples:\n"
      "  tracedb baseline monday.db tuesday.db wednesday.db\n"
      "  tracedb compare --baseline baseline.json before.db after.db");
}

}  // namespace

void AddCompare(CLI::App& app, CompareArguments& compare, BaselineArguments& baseline) {
  AddCompareOptions(*app.add_subcommand("compare", "did a change help, and is it beyond noise"),
                    compare);
  AddBaselineOptions(*app.add_subcommand("baseline", "how far runs that are alike lie apart"),
                     baseline);
}

}  // namespace tracedb
