#include "cli_options_parts.h"

#include <CLI/CLI.hpp>
#include <string>

namespace tracedb {

std::string IsNamed(const std::string& file) {
  return file.empty() ? "a file name is missing; - is standard output" : "";
}

void AddForce(CLI::App& app, bool& force) {  // see OutputGuard
  app.add_flag("--force", force,
               "--output may replace another database, a file that the answer is made from, or one "
               "of a job's summaries");
}

void AddOutput(CLI::App& app, std::filesystem::path& output, bool& force,
               const std::string& otherwise) {
  app.add_option("-o,--output", output, "write to this file, whole or not at all" + otherwise)
      ->check(IsNamed)
      ->type_name("FILE");
  AddForce(app, force);
}

namespace {

// What becomes of events that reach over the window's edges.
void AddEdges(CLI::App& app, CutOptions& options) {
  CLI::Option* clip =
      app.add_flag("--clip", options.clip,
                   "slices end at the window's edges; else they are whole where they reach over");
  app.add_flag("--incoming", options.incoming,
               "also arrows that begin before the window and end in it, with the slices in which "
               "they begin: the launches of what runs in it")
      ->excludes(clip);
}

}  // namespace

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
  app.add_flag("--detail", options.detail,
               "of a gathered database: the events of the --rank from its own database");
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
  AddEdges(app, options);
  app.add_flag("--critical-path", options.critical_path,
               "above all else a track of what each step waited for, over all ranks, as the query "
               "critical_path has it; with --step all of those steps' path");
  app.footer(
      "Without a window: all of it. One trace keeps its process ids and times; several get ids and "
      "names of their own, and several ranks the aligned clocks.\n"
      "\nExamples:\n"
      "  tracedb cut -o step3.json.gz --step 3\n"
      "  tracedb cut -o slow.json \\\n"
      "      --around 'SELECT * FROM kernels ORDER BY dur_ns DESC'");
}

void AddServe(CLI::App& app, ServeArguments& arguments) {
  ServeOptions& options = arguments.serve;
  app.add_option("--host", options.host,
                 "the address to listen on (default 127.0.0.1: this machine only)")
      ->type_name("ADDRESS");
  app.add_option("--port", options.port, "the port (default 8642; 0: any that is free)")
      ->check(CLI::Range(0, 65535))
      ->type_name("N");
  app.add_option("--token", arguments.token,
                 "who asks must know this, as the password or as ?token=; needed for any address "
                 "that others reach; `ps` shows it to every user of this machine")
      ->type_name("TEXT");
  app.add_option("--token-file", arguments.token_file,
                 "the token is the line in this file (or in $TRACEDB_TOKEN); neither is shown by "
                 "`ps`")
      ->type_name("FILE");
  app.add_option("--allow-host", options.allowed_hosts,
                 "a further name that browsers may call this server by; may be repeated")
      ->type_name("NAME")
      ->expected(1)
      ->take_all()
      ->allow_extra_args(false);
  app.add_option("--max-rows", options.rows_max,
                 "refuse answers of more rows (default 0: rows are not counted)")
      ->check(CLI::Range(int64_t{0}, int64_t{1} << 60))
      ->type_name("N");
  app.add_option("--max-seconds", options.seconds_max,
                 "break off answers that take longer, sending included (default 600)")
      ->check(CLI::Range(1, 1'000'000))
      ->type_name("N");
  app.add_option("--max-connections", options.connections_max,
                 "connections at a time; more are told to come again (default 256)")
      ->check(CLI::Range(1, 10'000))
      ->type_name("N");
  app.add_flag("--raw-text", options.raw_text,
               "CSV with texts as they are, without the ' of --safe-csv; ?safe=0 does so for one "
               "request");
  app.add_flag("--open", arguments.open, "open the page in a browser");
  app.footer(
      "Addresses:\n"
      "  /                                a page with all there is\n"
      "  /QUERY.csv?PARAM=VALUE           a query; /queries.csv lists them\n"
      "  /tables/NAME.csv?limit=&offset=&order=COLUMN,-COLUMN\n"
      "  /report  /healthz\n"
      "Everywhere: ?format=csv|tsv|json|ndjson|parquet  ?header=0  ?bom=1 (for Excel)  ?safe=0|1  "
      "?ns=text\n"
      "\nExamples:\n"
      "  tracedb serve --open\n"
      "  tracedb serve --db job.db --host 0.0.0.0 --token-file token");
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
             "than on others; transfers=data; waits=pipeline; sync; "
             "recorder: what the profiler held threads up for; may be repeated",
             "WHAT");
  conditions("--scale", arguments.scale, "times that long: 'name LIKE %gemm%=0.5'; may be repeated",
             "WHAT=FACTOR");
  app.add_option("--network", arguments.network, "collectives so many times as fast: 2, or inf")
      ->type_name("TIMES");
  app.add_option("--launch-latency", arguments.launch_latency,
                 "from a launch to its start on an idle GPU at most: 0, 2us")
      ->type_name("TIME");
  app.add_option("--balance", arguments.balance,
                 "every rank computes as long in a step as the mean of them; stages: layers move "
                 "between the stages of a pipeline until these do")
      ->check(CLI::IsMember({"ranks", "stages"}))
      ->type_name("ranks|stages");
  app.add_flag("--critical", arguments.critical,
               "then also what the critical path consists of (critical_path_by)");
  app.add_option("--step", arguments.step, "of this step alone")->type_name("N");
  app.add_option("--run", arguments.run, "of this run alone")->type_name("NAME");
  app.add_option("--capture", arguments.capture, "of this capture of a run alone, by its number")
      ->type_name("N");
  AddOutput(app, arguments.output, arguments.force);
  app.footer(
      "The recorded dependencies of all ranks are replayed with the changes: how long each step "
      "took, and would take. As a query: tracedb query what_if --explain. Of summaries (tracedb "
      "gather) collectives alone are: rank-late, transfers, waits of a parallelism, names of "
      "collectives' kernels and --network can be asked there.\n"
      "\nExamples:\n"
      "  tracedb what-if --without 'name=injected_straggler_sleep'\n"
      "  tracedb what-if --without rank-late=5 --network 2 --critical\n"
      "  tracedb what-if --scale 'name LIKE %gemm%=0.5' --step 3");
}

// Of a result; FormatByName knows them all.
void AddFormat(CLI::App& app, std::string& format, const std::string& otherwise,
               const std::vector<std::string>& more) {
  std::vector<std::string> names = {"table", "csv", "tsv", "json", "ndjson", "markdown"};
  names.insert(names.end(), more.begin(), more.end());
  std::string list;
  for (size_t i = 0; i + 1 < names.size(); ++i) list += (i == 0 ? "" : ", ") + names[i];
  app.add_option("--format", format, list + " or " + names.back() + otherwise)
      ->check(CLI::IsMember(names))
      ->type_name("FORMAT");
}

void AddInfo(CLI::App& app, InfoOptions& options, std::string& format) {
  CLI::Option* issues = app.add_flag("--issues", options.issues, "what was wrong in the traces");
  app.add_flag("--schema", options.schema,
               "the tables, views and columns that SQL may name; needs no database")
      ->excludes(issues);
  AddFormat(app, format);
  app.footer(
      "Examples:\n"
      "  tracedb info --db job.db\n"
      "  tracedb info --issues");
}

void AddAlign(CLI::App& app, AlignOptions& options, std::string& format) {
  app.add_option("DB", options.database, "the database (default: that of --db)");
  CLI::Option* show = app.add_flag("--show", options.show, "show the clocks, change nothing");
  app.add_flag("--reset", options.reset,
               "take the alignment out: all times as the traces have them, until the next align, "
               "or an ingest of more traces")
      ->excludes(show);
  AddFormat(app, format);
  app.footer(
      "Offsets and drifts of the ranks' clocks, told by the ends of collectives, which all ranks "
      "leave together. Every ingest ends with it. A table shows the clocks, and how well each two "
      "agree; the other formats show the clocks. Queries: clocks, clock_pairs.\n"
      "\nExamples:\n"
      "  tracedb align --show\n"
      "  tracedb align --db job.db --reset");
}

void AddDoctor(CLI::App& app, DoctorOptions& options, std::string& format) {
  app.add_option("INPUT", options.inputs,
                 "a database of tracedb; or traces as ingest takes them (files, folders, -), which "
                 "go into a temporary database ($TMPDIR); none: the database of --db");
  app.add_option("--format", format, "the report: text or json")
      ->check(CLI::IsMember({"text", "json"}))
      ->type_name("text|json");
  app.footer(
      "Exit codes: 0 nothing suspicious (notes do not count), 4 findings, 1 it failed, 2 wrong "
      "usage.\nEach check is a query: tracedb query doctor/NAME, and --explain for what it "
      "means.\n"
      "\nExamples:\n"
      "  tracedb doctor                        the database that is here\n"
      "  tracedb doctor job.db --format json\n"
      "  tracedb doctor rank0.json.gz          a trace, without a database");
}

void AddReport(CLI::App& app, ReportArguments& arguments) {
  AddOutput(app, arguments.output, arguments.force, " (default report.html; - is standard output)");
  app.add_option("--run", arguments.run,
                 "the run that it is of, where there are several (default: the last to begin)")
      ->type_name("NAME");
  app.add_option("--capture", arguments.capture,
                 "of this capture of the run alone, by its number (default: all; charts over time "
                 "of the first)")
      ->type_name("N");
  app.add_option("--step", arguments.step,
                 "the step that it is about, where the timeline has not all of them (default: the "
                 "one with most to gain)")
      ->type_name("N");
  app.add_option("--rank", arguments.rank,
                 "the rank whose timeline is shown first (default: the one at fault)")
      ->type_name("N");
  app.add_option("--title", arguments.title, "what stands above it (default: the database's name)")
      ->type_name("TEXT");
  app.add_option("--theme", arguments.theme, "light or dark (default: as the reader's system)")
      ->check(CLI::IsMember({"light", "dark"}))
      ->type_name("light|dark");
  app.footer(
      "One HTML page that loads nothing from a network: figures, charts, tables, doctor's "
      "checks. Each part says which query it is of.\n"
      "\nExamples:\n"
      "  tracedb report -o job.html\n"
      "  tracedb report --db job.db --run tuning/second -o second.html\n"
      "  tracedb report --title 'Loss spike' --step 7 --rank 12 --theme dark");
}

void AddCompletion(CLI::App& app, std::string& shell) {
  app.add_option("SHELL", shell, "bash, zsh or fish")
      ->check(CLI::IsMember({"bash", "zsh", "fish"}))
      ->required();
  app.footer(
      "Examples:\n"
      "  source <(tracedb completion bash)\n"
      "  tracedb completion zsh >~/.zfunc/_tracedb\n"
      "  tracedb completion fish >~/.config/fish/completions/tracedb.fish");
}

void AddShard(CLI::App& ingest, IngestOptions& options) {
  CLI::Option* shard =
      ingest
          .add_option("--shard", options.shard,
                      "also write a summary for the other ranks into this folder, which all share "
                      "(tracedb gather reads it); under srun, torchrun and mpirun the rank is "
                      "known, and {rank} in --db stands for it")
          ->check(IsNamed)
          ->type_name("FOLDER");
  ingest
      .add_option("--shard-inputs", options.shard_inputs,
                  "which traces of a folder this process takes: own, of its rank by their names "
                  "(default where each rank is a process); all; or deal, one in as many as there "
                  "are processes")
      ->check(CLI::IsMember({"own", "all", "deal"}))
      ->needs(shard)
      ->type_name("own|all|deal");
}

void AddGather(CLI::App& app, GatherArguments& arguments) {
  app.add_option("FOLDER", arguments.folder, "that was given to tracedb ingest --shard")
      ->required();
  app.add_option("-o,--output", arguments.output,
                 "the database to make (default: that of --db); one that was gathered before is "
                 "replaced")
      ->check(IsNamed)
      ->type_name("FILE");
  app.add_flag("--force", arguments.force, "-o may replace any database");
  app.add_option("--run", arguments.run,
                 "all summaries are of this run (default: as each rank's database says)")
      ->check(IsNamed)
      ->type_name("NAME");
  app.footer(
      "Sums, steps, collectives, clocks and the causes of waits are there; single events are in "
      "the ranks' own databases. A rank without a whole summary is named here and with every "
      "answer, and the exit code is 1.\n"
      "\nExamples:\n"
      "  srun tracedb ingest --shard /shared/job1 --db /local/{rank}.db traces/\n"
      "  tracedb gather /shared/job1 -o job1.db\n"
      "  tracedb query nccl_stall_roots --db job1.db");
}

}  // namespace tracedb
