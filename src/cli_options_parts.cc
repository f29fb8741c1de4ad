#include "cli_options_parts.h"

#include <CLI/CLI.hpp>
#include <string>

namespace tracedb {

std::string IsNamed(const std::string& file) {
  return file.empty() ? "a file name is missing; - is standard output" : "";
}

void AddForce(CLI::App& app, bool& force) {  // see OutputGuard
  app.add_flag("--force", force,
               "--output may replace another database, a trace in the database that is read, or "
               "the file of SQL");
}

void AddCut(CLI::App& app, CutOptions& options) {
  app.add_option("-o,--output", options.output,
                 "the file, whole or not at all; packed when its name ends in .gz; - for standard "
                 "output")
      ->type_name("FILE")
      ->required();
  AddForce(app, options.force);
  CLI::Option* step =
      app.add_option("--step", options.steps, "the time of these steps")->type_name("N[..M]");
  CLI::Option* start =
      app.add_option("--start", options.start,
                     "from here on: 1.25s (also ms, us, ns) after the first event, or a plain "
                     "number of ns, as in ts_ns")
          ->type_name("TIME");
  CLI::Option* end =
      app.add_option("--end", options.end, "up to here, likewise")->type_name("TIME");
  CLI::Option* around =
      app.add_option("--around", options.around,
                     "the time of the first row that this SQL gives: ts_ns, if it has them with "
                     "dur_ns, and by the clock of trace_id or rank")
          ->type_name("SQL");
  CLI::Option* slowest =
      app.add_flag("--slowest-collective", options.slowest_collective,
                   "the time of the collective in which ranks waited longest for the last one");
  app.add_option("--margin", options.margin,
                 "so much more at both ends (default 1ms with --around and --slowest-collective, "
                 "else nothing)")
      ->type_name("TIME");
  step->excludes(start)->excludes(end)->excludes(around)->excludes(slowest);
  around->excludes(start)->excludes(end)->excludes(slowest);
  slowest->excludes(start)->excludes(end);
  app.add_option("--run", options.run,
                 "of this run; needed where several runs have something in that time")
      ->type_name("NAME");
  app.add_option("--capture", options.capture, "of this capture of the run only, by its number")
      ->check(CLI::Range(int64_t{1}, int64_t{1} << 60))
      ->type_name("N");
  app.add_option("--rank", options.ranks, "these ranks only: 3, or 0,3, or 0..7")
      ->type_name("RANKS");
  const auto list = [&app](const char* name, std::vector<std::string>& values, const char* help) {
    app.add_option(name, values, help)
        ->type_name("NAME,...")
        ->expected(1)
        ->take_all()
        ->allow_extra_args(false)
        ->delimiter(',');
  };
  list("--stream", options.streams, "of the GPU streams these only; threads stay");
  list("--category", options.categories,
       "events of these categories only (kernel, cpu_op, ac2g for launch arrows ...)");
  app.add_option("--max-events", options.events_max,
                 "at most so many: the longest slices, then what has no length; says what is "
                 "left out")
      ->check(CLI::Range(int64_t{1}, int64_t{1} << 60))
      ->type_name("N");
  app.add_flag("--clip", options.clip,
               "slices end at the window's edges; else they are whole where they reach over");
  app.add_flag("--critical-path", options.critical_path,
               "above all else a track of what each step waited for, over all ranks, as the query "
               "critical_path has it; with --step all of those steps' path");
  app.footer(
      "Without a window: all of it. One trace keeps its process ids and times; several get ids and "
      "names\nof their own, and several ranks the aligned clocks. Examples:\n"
      "  tracedb cut -o step3.json.gz --step 3\n"
      "  tracedb cut -o slow.json --around 'SELECT * FROM kernels ORDER BY dur_ns DESC'");
}

void AddWhatIf(CLI::App& app, WhatIfArguments& arguments) {
  const auto conditions = [&app](const char* name, std::vector<std::string>& values,
                                 const char* help, const char* type) {
    app.add_option(name, values, help)
        ->type_name(type)
        ->expected(1)
        ->take_all()
        ->allow_extra_args(false);
  };
  conditions("--without", arguments.without,
             "as if it took no time: 'name=X', 'name LIKE %x%', 'name GLOB *x*', kind=memory, each "
             "also with 'and rank=N', 'and step=N'; rank-late=N: what takes longer on that rank "
             "than on others; transfers=data; waits=pipeline; sync; may be repeated",
             "WHAT");
  conditions("--scale", arguments.scale, "times that long: 'name LIKE %gemm%=0.5'; may be repeated",
             "WHAT=FACTOR");
  app.add_option("--network", arguments.network, "collectives so many times as fast: 2, or inf")
      ->type_name("TIMES");
  app.add_option("--launch-latency", arguments.launch_latency,
                 "from a launch to its start on an idle GPU at most: 0, 2us")
      ->type_name("TIME");
  app.add_option("--balance", arguments.balance,
                 "every rank computes as long in a step as the mean of them")
      ->check(CLI::IsMember({"ranks", "stages"}))
      ->type_name("ranks|stages");
  app.add_flag("--critical", arguments.critical,
               "then also what the critical path consists of (critical_path_by)");
  app.add_option("--step", arguments.step, "of this step alone")->type_name("N");
  app.add_option("--run", arguments.run, "of this run alone")->type_name("NAME");
  app.add_option("--capture", arguments.capture, "of this capture of a run alone, by its number")
      ->type_name("N");
  app.add_option("-o,--output", arguments.output, "write to this file, whole or not at all")
      ->check(IsNamed)
      ->type_name("FILE");
  AddForce(app, arguments.force);
  app.footer(
      "The recorded dependencies of all ranks are replayed with the changes: how long each step\n"
      "took, and would take. As a query: tracedb query what_if --explain. Examples:\n"
      "  tracedb what-if --without 'name=injected_straggler_sleep'\n"
      "  tracedb what-if --without rank-late=5 --network 2 --critical\n"
      "  tracedb what-if --scale 'name LIKE %gemm%=0.5' --step 3");
}

}  // namespace tracedb
