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
  app.footer(
      "Without a window: all of it. One trace keeps its process ids and times; several get ids and "
      "names\nof their own, and several ranks the aligned clocks. Examples:\n"
      "  tracedb cut -o step3.json.gz --step 3\n"
      "  tracedb cut -o slow.json --around 'SELECT * FROM kernels ORDER BY dur_ns DESC'");
}

}  // namespace tracedb
