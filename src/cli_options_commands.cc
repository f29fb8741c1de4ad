// Options of ingest, query, compare, baseline, watch, shell and export.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <map>

#include "cli_options_parts.h"
#include "tracedb/sources/source_readers.h"

namespace tracedb {
namespace {

void AddRuns(CLI::App& app, const char* name, std::vector<std::string>& runs, const char* help) {
  app.add_option(name, runs, help)->type_name("RUN");
}

}  // namespace

void AddCompare(CLI::App& app, CompareArguments& arguments) {
  AddRuns(app, "RUN", arguments.inputs,
          "BASE NEW: databases, or traces, training logs and folders, which go into a temporary "
          "database ($TMPDIR); where one holds several runs: FILE.db#RUN");
  AddRuns(app, "--base", arguments.base, "several runs that are alike, before the change");
  AddRuns(app, "--new", arguments.now, "several runs that are alike, with the change");
  app.add_option("--min-effect", arguments.effect_min, "a smaller change is the same (default 1%)")
      ->type_name("PCT");
  app.add_option("--baseline", arguments.baseline,
                 "how far runs that are alike lie apart, as `tracedb baseline` has written it")
      ->type_name("FILE");
  app.add_option("--gate", arguments.gate, "fail where a step is slower by more than this")
      ->type_name("PCT");
  app.add_option("--cannot-tell", arguments.cannot_tell,
                 "whether --gate passes where it cannot be told (default fail)")
      ->check(CLI::IsMember({"pass", "fail"}))
      ->type_name("pass|fail");
  app.add_flag("--critical-path", arguments.critical_path,
               "what of the critical path changed, too: each run is replayed");
  app.add_flag("--table", arguments.table, "any number of runs: a row for each, by parts");
  app.add_option("--rows", arguments.rows_max, "what changed: so many rows of it (default 15)")
      ->check(CLI::Range(0, 1'000'000))
      ->type_name("N");
  app.add_option("-c,--command", arguments.command,
                 "instead: run this SQL over compare_step, compare_parts, compare_rows, "
                 "compare_ranks, compare_differences, compare_unlike, compare_runs and the "
                 "databases of both sides, base.kernels, new.kernels ...")
      ->type_name("SQL");
  app.add_option("--format", arguments.format,
                 "text, json, markdown or html (default: by -o's ending, else text); with --table "
                 "or -c also table, csv, tsv, ndjson")
      ->check(CLI::IsMember({"text", "json", "markdown", "html", "table", "csv", "tsv", "ndjson"}))
      ->type_name("FORMAT");
  AddOutput(app, arguments.output, arguments.force,
            "; its ending says the format: .json, .md, .html; with --table or -c also .csv, .tsv, "
            ".ndjson, .parquet, .arrows");
  app.footer(
      "Steps are those of the traces; where a run has none, the iterations of all runs' training "
      "logs.\n"
      "Runs are not comparable where their ranks, GPUs, layout or global batch differ, a trace was "
      "cut short or damaged, or a rank lost more than 1 % of its GPU activities.\n"
      "base. and new. of -c are the whole databases of the first run of each side, base2., new2. "
      "those of further ones (compare_runs says which is where); base_kernels has of base.kernels "
      "what is of the runs compared, and so has base_X of each view that tells the run.\n\n"
      "Exit codes: 0 compared; with --gate 0 same or faster or slower by less, 3 slower, 5 cannot "
      "tell; 4 not comparable, 1 it failed, 2 wrong usage.\n"
      "\nExamples:\n"
      "  tracedb compare before.db after.db\n"
      "  tracedb compare --base a1.db a2.db a3.db --new b1.db b2.db b3.db --gate 3%\n"
      "  tracedb compare jobs.db#monday jobs.db#tuesday --format markdown");
}

void AddBaseline(CLI::App& app, BaselineArguments& arguments) {
  AddRuns(app, "RUN", arguments.inputs, "runs that are alike, two at least, as compare takes them");
  AddOutput(app, arguments.output, arguments.force, " (default baseline.json)");
  app.footer(
      "Examples:\n"
      "  tracedb baseline monday.db tuesday.db wednesday.db\n"
      "  tracedb compare --baseline baseline.json before.db after.db");
}

size_t ParseSize(const std::string& text, const std::string& option) {
  char* end = nullptr;
  const double number = std::strtod(text.c_str(), &end);
  std::string unit(end);
  for (char& c : unit) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  if (unit.ends_with("IB")) unit.resize(unit.size() - 2);
  if (unit.ends_with("B")) unit.pop_back();
  const std::map<std::string, int> shifts = {{"", 0}, {"K", 10}, {"M", 20}, {"G", 30}, {"T", 40}};
  const auto shift = shifts.find(unit);
  const bool is_number = end != text.c_str() && std::isfinite(number) && number > 0;
  if (!is_number || shift == shifts.end() || number > 1e6) {
    if (shift == shifts.end() || shift->second != 0 || !is_number || number > 1e15) {
      throw CLI::ValidationError(option, "'" + text + "' is no size; write 128M or 2G");
    }
  }
  const double bytes = number * static_cast<double>(uint64_t{1} << shift->second);
  if (bytes < 1) throw CLI::ValidationError(option, "'" + text + "' is no byte; write 128M or 2G");
  return static_cast<size_t>(bytes);
}

namespace {

// "30s", "10m", "12h", "7d", "4w". Throws as ParseSize does.
std::chrono::seconds ParseTime(const std::string& text, const std::string& option) {
  const std::map<std::string, double> units = {
      {"s", 1}, {"m", 60}, {"h", 3600}, {"d", 86400}, {"w", 7 * 86400}};
  constexpr double kSecondsMax = 1e10;
  char* end = nullptr;
  const double number = std::strtod(text.c_str(), &end);
  const auto unit = units.find(end);
  if (end == text.c_str() || unit == units.end() || !(number * unit->second >= 1) ||
      number * unit->second > kSecondsMax) {
    throw CLI::ValidationError(option, "'" + text + "' is no time; write 30s, 10m, 12h or 7d");
  }
  return std::chrono::seconds(static_cast<int64_t>(number * unit->second));
}

}  // namespace

void AddWatch(CLI::App& app, WatchArguments& arguments, WatchTexts& texts) {
  app.add_option("DIR", arguments.watch.folder,
                 "the folder where traces appear, and those below it")
      ->required();
  app.add_option("--keep", texts.keep,
                 "how much stays in the database, as a size (50G) or an age (12h, 7d, 4w); may be "
                 "given twice. The oldest captures go first, the last stays; no file of DIR is "
                 "touched (default: all stays)")
      ->type_name("SIZE|AGE")
      ->allow_extra_args(false);
  app.add_flag("--once", arguments.watch.once, "take what is there, and end");
  app.add_option("--every", texts.every,
                 "look at DIR at least so often, where the system does not say that something "
                 "happened there, as for other machines' files (default 30s)")
      ->type_name("TIME");
  app.add_option("--settle", texts.settle,
                 "a file that breaks off is taken as it is once it has not changed for so long "
                 "(default 10m)")
      ->type_name("TIME");
  app.add_option("--memory", texts.memory, "as of ingest")->type_name("SIZE");
  app.add_option("--threads", arguments.ingest.threads, "as of ingest")
      ->check(CLI::Range(1, 64))
      ->type_name("N");
  app.add_option("--jobs", arguments.ingest.jobs, "as of ingest")
      ->check(CLI::Range(1, 64))
      ->type_name("N");
  app.add_option("--args", texts.args, "as of ingest")
      ->check(CLI::IsMember({"all", "none"}))
      ->type_name("all|none");
  app.add_option("--format", texts.format, "a line for each file: text, or a JSON object")
      ->check(CLI::IsMember({"text", "json"}))
      ->type_name("text|json");
  app.footer(
      "A file is taken once it is whole: when its gzip or its JSON ends. What is there at the "
      "start and not in the database yet is taken as well, so nothing is lost between two runs.\n"
      "\nExamples:\n"
      "  tracedb watch /shared/traces --db job.db --keep 50G\n"
      "  tracedb watch traces --keep 7d --keep 100G --memory 512M\n"
      "  tracedb watch traces --once --format json");
}

void TakeWatchTexts(const WatchTexts& texts, WatchArguments& arguments) {
  for (const std::string& keep : texts.keep) {
    if (!keep.empty() && keep.find_first_not_of("0123456789.") == std::string::npos) {
      // As bytes it would take out all captures but the last.
      throw CLI::ValidationError("--keep",
                                 fmt::format("{0} of what? write {0}G or {0}M for a size, "
                                             "{0}d or {0}h for an age",
                                             keep));
    }
    const bool is_time = keep.find_first_of("hdw") != std::string::npos;
    try {
      if (is_time) {
        arguments.watch.keep_time = ParseTime(keep, "--keep");
      } else {
        arguments.watch.keep_bytes = static_cast<int64_t>(ParseSize(keep, "--keep"));
      }
    } catch (const CLI::ValidationError&) {
      throw CLI::ValidationError("--keep", "'" + keep +
                                               "' is neither a size nor an age; write 50G, or 12h, "
                                               "7d, 4w");
    }
  }
  if (!texts.every.empty()) arguments.watch.every = ParseTime(texts.every, "--every");
  if (!texts.settle.empty()) arguments.watch.settle = ParseTime(texts.settle, "--settle");
  if (!texts.memory.empty()) arguments.ingest.memory_bytes = ParseSize(texts.memory, "--memory");
  arguments.ingest.keep_args = texts.args == "all";
  arguments.ingest.json = texts.format == "json";
}

namespace {

// A line for each kind of file.
std::string WhatIsRead() {
  std::string text =
      "Read are traces of PyTorch's profiler (Chrome trace JSON), exports of Nsight Systems "
      "(.sqlite; .nsys-rep where nsys is installed), and what else a job leaves:\n";
  for (const SourceReader* reader : SourceReaders()) {
    text += "  " + std::string(reader->kind()) + "\n";
  }
  return text +
         "Other files of a folder are passed over, and counted.\n"
         "\nExamples:\n"
         "  tracedb ingest traces/\n"
         "  tracedb ingest rank0.json.gz rank1.json.gz --db job.db\n"
         "  ssh node cat trace.json | tracedb ingest - --rank 3";
}

}  // namespace

void AddIngest(CLI::App& app, IngestOptions& options, IngestTexts& texts) {
  app.add_option(
         "INPUT", options.inputs,
         "files, folders (searched recursively), or - for a trace on standard input; what a "
         "file is and how it is packed (gzip, zstd) is determined by its content")
      ->required();
  app.add_option("--rank", options.rank,
                 "the rank, where neither the header nor the file name tells it (one input only)")
      ->check(CLI::Range(int64_t{0}, int64_t{1} << 40))
      ->type_name("N");
  app.add_option("--run", options.run,
                 "the run that these traces are of (default: the folder's name)")
      ->check([](const std::string& name) {
        return name.empty() ? std::string("a run needs a name") : std::string();
      })
      ->type_name("NAME");
  app.add_flag("--strict", options.strict, "fail at the first thing that is wrong in a trace");
  app.add_flag("--replace", options.replace,
               "take out a trace of the same content or path first, instead of skipping the file");
  app.add_option(
         "--memory", texts.memory,
         "bound on the whole program's memory (default 128M; 32M for each file that is read "
         "at a time where that is more: on 5 cores or more, with several files)")
      ->type_name("SIZE");
  app.add_option("--threads", options.threads, "threads that parse (default: as suits the machine)")
      ->check(CLI::Range(1, 64))
      ->type_name("N");
  app.add_option("--jobs", options.jobs,
                 "files read at a time (default: as suits the machine and --memory)")
      ->check(CLI::Range(1, 64))
      ->type_name("N");
  app.add_option("--args", texts.args, "keep every event's args, or only what the analysis needs")
      ->check(CLI::IsMember({"all", "none"}))
      ->type_name("all|none");
  app.add_option(
         "--keep", texts.keep,
         "keep what is left out otherwise; osrt: calls of the system's libraries in exports "
         "of Nsight Systems")
      ->check(CLI::IsMember({"osrt"}))
      ->type_name("osrt")
      ->allow_extra_args(false);
  app.add_option("--format", texts.format, "the closing summary: text or json")
      ->check(CLI::IsMember({"text", "json"}))
      ->type_name("text|json");
  app.add_option(
         "--tz", texts.zone,
         "the zone of local times without one (nvidia-smi, logs): +02:00, UTC, or local for "
         "what this machine has today; without it the GPUs' load tells, where it can")
      ->type_name("ZONE");
  app.add_option("--block-bytes", options.block_bytes, "")->group("");
  AddShard(app, options);
  app.footer(WhatIsRead());
}

void TakeIngestTexts(const IngestTexts& texts, IngestOptions& options) {
  if (!texts.memory.empty()) options.memory_bytes = ParseSize(texts.memory, "--memory");
  options.keep_args = texts.args == "all";
  options.keep_osrt = !texts.keep.empty();  // the only one there is
  options.json = texts.format == "json";
}

void AddQuery(CLI::App& app, QueryArguments& options, std::string& format) {
  app.add_option("QUERY", options.source,
                 "a canned query's name, a file of SQL, or - for standard input; none: list them");
  app.add_option("-c,--command", options.command, "run this SQL")->type_name("SQL");
  app.add_option(
         "-p,--param", options.params,
         "a parameter of the query; may be repeated; ranks and steps may be lists: rank=0,3..5")
      ->type_name("KEY=VALUE")
      ->expected(1)
      ->take_all()
      ->allow_extra_args(false);
  AddFormat(app, format, kByEnding, {"arrow", "parquet"});
  app.add_flag("--wide", options.wide, "a table with all columns, however wide");
  app.add_flag("--vertical", options.vertical, "a table with each row as a block");
  AddOutput(app, options.output, options.force,
            "; its ending says the format: .csv, .tsv, .json, .ndjson, .md, .parquet, .arrows");
  app.add_flag("--no-header", options.no_header, "no line with the columns' names");
  app.add_flag(
      "--safe-csv", options.safe_csv,
      "csv for spreadsheets: what starts like a formula (= + - @) gets a ' in front, at the start "
      "of a text and after ; tab or line break within it");
  app.add_flag("--plot", options.plot,
               "draw the result: bars, shares or lines, as the query's header says");
  app.add_flag("--explain", options.explain,
               "show what the query means, and its SQL (--format json: for programs)");
  app.add_flag(
      "--schema", options.schema,
      "show the tables, views and columns that SQL may name, or of QUERY, a table's name, its own");
  app.add_flag("--detail", options.detail,
               "of a gathered database: ask the own databases of the ranks in -p rank=... what is "
               "about single events");
  app.add_option("--assert", options.assert_expression,
                 "an SQL expression over the result's columns that every row must fulfil; exit 3 "
                 "if one does not")
      ->type_name("EXPR")
      ->check([](const std::string& expression) {
        return expression.empty() ? std::string("an expression is missing") : std::string();
      });
  app.footer(
      "Examples:\n"
      "  tracedb query                                 which queries there are\n"
      "  tracedb query overlap -p rank=0,3..5          of these ranks only\n"
      "  tracedb query kernels_top --explain           what it means, and its SQL\n"
      "  tracedb query step_times --plot\n"
      "  tracedb query nccl_stalls --db job.db -o stalls.csv\n"
      "  tracedb query -c 'SELECT * FROM kernels' -o kernels.parquet\n"
      "  tracedb query -c 'SELECT name, dur_ns FROM kernels LIMIT 5'\n"
      "  tracedb query overlap --assert 'overlap_pct > 50'");
}

void AddShell(CLI::App& app) {
  app.footer(
      "A line is a canned query and its parameters, SQL up to a semicolon, or a command that "
      "begins with a dot; tab completes names. From a file or a pipe the first line that fails "
      "ends it.\n"
      "\nExamples:\n"
      "  tracedb shell --db job.db\n"
      "  tracedb> overlap rank=0,3..5\n"
      "  tracedb> SELECT name, dur_ns FROM kernels ORDER BY dur_ns DESC LIMIT 5;\n"
      "  tracedb> .schema kernels\n"
      "  tracedb shell <questions.sql");
}

void AddExport(CLI::App& app, ExportArguments& arguments) {
  app.add_option("QUERY", arguments.queries,
                 "canned queries, a sheet or a file each (default: those that most people "
                 "ask); as Parquet also tables and views");
  app.add_option("--format", arguments.format,
                 "xlsx: a workbook; parquet: a folder with a file each, and what they are in "
                 "contents.parquet and columns.parquet (default xlsx)")
      ->check(CLI::IsMember({"xlsx", "parquet"}))
      ->type_name("FORMAT");
  app.add_option("-p,--param", arguments.params,
                 "a parameter, for each of the queries that has it; may be repeated")
      ->type_name("KEY=VALUE")
      ->expected(1)
      ->take_all()
      ->allow_extra_args(false);
  AddOutput(app, arguments.output, arguments.force, "; of Parquet files the folder");
  CLI::Option* sql = app.add_option("--sql", arguments.engine,
                                    "print the query as SQL for spark, duckdb or clickhouse, "
                                    "over summaries; without a query: which there are");
  sql->check(IsNamed)->type_name("ENGINE")->excludes("--format");
  app.add_option("--shards", arguments.shards, "the folder of the summaries, once gathered")
      ->check(IsNamed)
      ->needs(sql)
      ->type_name("FOLDER");
  app.footer(
      "Numbers are numbers; integers of more than 15 digits, which spreadsheets round, are texts. "
      "The first sheet says what each other is, the last what each column means.\n"
      "\nExamples:\n"
      "  tracedb export -o job.xlsx\n"
      "  tracedb export overlap nccl_stalls kernels_top -p limit=1000 -o comm.xlsx\n"
      "  tracedb export overlap kernels steps --format parquet -o job\n"
      "  tracedb export --sql duckdb nccl_stall_roots --shards /shared/job1 | duckdb");
}

}  // namespace tracedb
