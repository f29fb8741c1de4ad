#include "cli_options.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <sstream>

#include "cli_mistakes.h"
#include "cli_options_parts.h"
#include "cli_time_zone.h"
#include "tracedb/help/completion_script.h"
#include "tracedb/help/help_text.h"
#include "tracedb/help/man_page.h"
#include "tracedb/memory/load_limits.h"
#include "tracedb/query/doc/query_builtin.h"
#include "tracedb/shards/launch_environment.h"
#include "tracedb/sources/source_readers.h"

namespace tracedb {
namespace {

constexpr const char* kDescription =
    "PyTorch profiler traces of any size, into SQLite, answered with SQL.";
constexpr const char* kFooter =
    "Examples:\n"
    "  tracedb ingest traces/            every trace in a folder into ./trace.db\n"
    "  tracedb query                     which questions there are\n"
    "  tracedb query overlap             is communication hidden behind computation?\n"
    "  tracedb doctor rank0.json.gz      what is suspicious in a trace\n"
    "  tracedb query -c 'SELECT name, count(*) FROM kernels GROUP BY name'\n"
    "\n"
    "Exit codes: 0 done, 1 it failed, 2 wrong usage, 3 an --assert did not hold or\n"
    "compare --gate found a step slower, 4 doctor found something or compare runs\n"
    "that are not comparable, 5 compare --gate cannot tell.";

void AddGlobal(CLI::App& app, CommandLine& line, std::string& color, bool& man) {
  app.set_help_flag("-h,--help", "show this help and go");
  app.add_flag("--man", man, "show all help as a man page (tracedb --man | man -l -) and go");
  app.add_option("--db", line.global.database,
                 "the database (default: $TRACEDB_DB, else trace.db here)")
      ->type_name("PATH");
  app.add_flag("-q,--quiet", line.global.quiet, "no progress, no notes, no summary");
  app.add_flag("-v,--verbose", line.global.verbose, "say more on standard error");
  app.add_flag("--no-pager", line.global.no_pager,
               "no pager ($PAGER, else less) on a terminal for what is more than a screen; the "
               "table of a query then has a screen's rows");
  app.add_option("--color", color, "auto, always or never (NO_COLOR is honoured)")
      ->check(CLI::IsMember({"auto", "always", "never"}))
      ->type_name("WHEN");
}

// Options that are read as text and looked at once all are there.
struct IngestTexts {
  std::string memory;
  std::string args = "all";
  std::vector<std::string> keep;
  std::string format = "text";
  std::string zone;
};

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

ColorChoice ColorByName(const std::string& name) {
  if (name == "always") return ColorChoice::kAlways;
  return name == "never" ? ColorChoice::kNever : ColorChoice::kAuto;
}

Status TakeZone(const CLI::App& ingest, const IngestTexts& texts, IngestOptions& options) {
  if (ingest.count("--tz") == 0) return Done{};
  TRACEDB_ASSIGN(offset_ns, UtcOffsetNs(texts.zone));
  options.utc_offset_ns = offset_ns;
  return Done{};
}

constexpr const char* kByEnding = " (default: by -o's ending, else table on a terminal, else csv)";

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
      ->type_name("EXPR");
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

std::filesystem::path DefaultDatabase() {
  const char* from_environment = std::getenv("TRACEDB_DB");
  return from_environment != nullptr && *from_environment != '\0' ? from_environment : "trace.db";
}

Result<Command> ChosenCommand(const CLI::App& app) {
  const std::map<std::string, Command> commands = {
      {"ingest", Command::kIngest},     {"gather", Command::kGather},
      {"watch", Command::kWatch},       {"query", Command::kQuery},
      {"serve-csv", Command::kServe},   {"info", Command::kInfo},
      {"align", Command::kAlign},       {"doctor", Command::kDoctor},
      {"cut", Command::kCut},           {"report", Command::kReport},
      {"what-if", Command::kWhatIf},    {"compare", Command::kCompare},
      {"baseline", Command::kBaseline}, {"shell", Command::kShell},
      {"export", Command::kExport}};
  const auto chosen = app.get_subcommands();
  if (!chosen.empty()) return commands.at(chosen[0]->get_name());
  return Error{ErrorKind::kUsage,
               "a command is missing: ingest, gather, watch, query, shell, compare, what-if, "
               "serve-csv, report, "
               "export, info, align, doctor, baseline or cut",
               "see: tracedb --help"};
}

// Where the database is; a process of many has one of its own.
void PlaceDatabase(CommandLine& line) {
  const bool is_named = !line.global.database.empty() || std::getenv("TRACEDB_DB") != nullptr;
  if (line.global.database.empty()) line.global.database = DefaultDatabase();
  if (line.ingest.shard.empty()) return;
  const std::optional<int64_t> task =
      ReadLaunchEnvironment([](const char* name) { return std::getenv(name); }).task;
  std::string name = line.global.database.string();
  const std::string number = std::to_string(task.value_or(0));
  constexpr std::string_view kRank = "{rank}";
  for (size_t at = name.find(kRank); at != name.npos; at = name.find(kRank, at + number.size())) {
    name.replace(at, kRank.size(), number);
  }
  if (!is_named && task.has_value()) name = "trace.rank" + number + ".db";
  line.global.database = name;
}

// What CLI11 cannot tell of a value.
Status CheckValues(const CommandLine& line, bool has_sql) {
  for (const IngestOptions* ingest : {&line.ingest, &line.watch.ingest}) {
    const size_t memory_bytes = ingest->memory_bytes;
    if (memory_bytes == 0 || memory_bytes >= LoadLimits::kMemoryBytesMin) continue;
    return Error{
        ErrorKind::kUsage,
        "--memory: the least is " + std::to_string(LoadLimits::kMemoryBytesMin >> 20) + "M",
        "see: tracedb ingest --help"};
  }
  if (has_sql && line.query.command.find_first_not_of(" \t\r\n") == std::string::npos) {
    return Error{ErrorKind::kUsage, "--command: there is no SQL in it",
                 "see: tracedb query --help"};
  }
  return Done{};
}

// As --format of each command has it.
struct FormatTexts {
  std::string query, info, align, what_if;
  std::string doctor = "text";
};

void SetFormats(const FormatTexts& formats, CommandLine& line) {
  line.query.format = FormatByName(formats.query);
  line.info.format = FormatByName(formats.info);
  line.align.format = FormatByName(formats.align);
  line.what_if.format = FormatByName(formats.what_if);
  line.doctor.json = formats.doctor == "json";
}

// Of a line with words that nothing took: "tracedb overlap -p rank=0" asks the query of that name.
Result<CommandLine> ParseAgain(const CLI::App& app, std::vector<const char*> arguments) {
  const std::vector<std::string> typed(arguments.begin() + 1, arguments.end());
  const std::vector<std::string> unexpected = UnexpectedWords(app, typed);
  if (unexpected.empty()) return WrongUsage(app, "an argument was not expected");
  const bool is_query = app.get_subcommands().empty() && IsCannedQuery(unexpected.front());
  if (!is_query) return UnexpectedError(app, typed, unexpected);
  const auto name = std::find(typed.begin(), typed.end(), unexpected.front());
  arguments.insert(arguments.begin() + 1 + (name - typed.begin()), "query");
  return ParseCommandLine(static_cast<int>(arguments.size()), arguments.data());
}

// Of a completion's shell, or without one the man page.
Result<CommandLine> GeneratedText(const CLI::App& app, const std::string& shell, CommandLine line) {
  const HelpBook book = ReadHelp(app);
  TRACEDB_ASSIGN(catalog, QueryCatalog::Load(BuiltInQueries()));
  line.text =
      shell.empty() ? ManPage(book, TRACEDB_VERSION) : CompletionScript(book, catalog, shell);
  return line;
}

// "tracedb overlap --help" is about that query.
Result<CommandLine> AskedHelp(const CLI::App& app, const std::vector<std::string>& typed,
                              CommandLine line) {
  const auto chosen = app.get_subcommands();
  const std::vector<std::string> unexpected = UnexpectedWords(app, typed);
  const auto word = std::ranges::find_if_not(
      unexpected, [](const std::string& one) { return one.starts_with('-'); });
  if (!chosen.empty() || word == unexpected.end()) {
    line.text = HelpText(ReadHelp(app), chosen.empty() ? "" : chosen[0]->get_name());
    return line;
  }
  line.text = HelpOfQuery(*word);
  if (line.text.empty()) return UnexpectedError(app, typed, unexpected);
  return line;
}

Result<CommandLine> Parse(int argc, const char* const* argv) {
  CommandLine line;
  CLI::App app(kDescription, "tracedb");
  app.footer(kFooter);
  app.set_version_flag("--version", std::string("tracedb ") + TRACEDB_VERSION,
                       "show the version and go");
  app.require_subcommand(0, 1);
  app.fallthrough();
  std::string color = "auto";
  IngestTexts ingest_texts;
  WatchTexts watch_texts;
  std::string shell;
  FormatTexts formats;
  bool man = false;
  AddGlobal(app, line, color, man);
  CLI::App* ingest = app.add_subcommand("ingest", "load traces into the database");
  AddGather(app, line.gather);
  CLI::App* watch = app.add_subcommand("watch", "load the traces of a folder as they appear");
  CLI::App* query = app.add_subcommand("query", "ask the database something");
  CLI::App* what_if = app.add_subcommand("what-if", "how long steps would take without a cause");
  AddCompare(app, line.compare, line.baseline);
  CLI::App* serve = app.add_subcommand("serve-csv", "queries and tables over HTTP, as CSV");
  CLI::App* report = app.add_subcommand("report", "one HTML page with charts of all of it");
  AddPrompt(app, line.workbook);
  CLI::App* info = app.add_subcommand("info", "what is in the database");
  CLI::App* align = app.add_subcommand("align", "compare the clocks of the ranks");
  CLI::App* doctor = app.add_subcommand("doctor", "what is suspicious in traces or a database");
  CLI::App* cut = app.add_subcommand("cut", "a window of it as a trace that Perfetto opens");
  const CLI::App* completion = AddCompletion(app, shell);
  AddIngest(*ingest, line.ingest, ingest_texts);
  AddWatch(*watch, line.watch, watch_texts);
  AddQuery(*query, line.query, formats.query);
  AddServe(*serve->alias("serve"), line.serve);
  AddReport(*report, line.report);
  AddInfo(*info, line.info, formats.info);
  AddAlign(*align, line.align, formats.align);
  AddDoctor(*doctor, line.doctor, formats.doctor);
  AddCut(*cut, line.cut);
  AddWhatIf(*what_if, line.what_if);
  AddFormat(*what_if, formats.what_if, kByEnding);
  for (CLI::App* command : app.get_subcommands({})) command->fallthrough();
  try {
    app.parse(argc, argv);
    TakeIngestTexts(ingest_texts, line.ingest);
    TakeWatchTexts(watch_texts, line.watch);
  } catch (const CLI::CallForHelp&) {
    return AskedHelp(app, {argv + 1, argv + argc}, std::move(line));
  } catch (const CLI::Success& asked_for_text) {
    std::ostringstream text;
    std::ostringstream errors;
    app.exit(asked_for_text, text, errors);
    line.text = text.str();
    return line;
  } catch (const CLI::ExtrasError&) {
    return ParseAgain(app, {argv, argv + argc});
  } catch (const CLI::ParseError& error) {
    return WrongUsage(app, error.what());
  }
  if (man || completion->parsed()) return GeneratedText(app, shell, std::move(line));
  PlaceDatabase(line);
  line.global.color = ColorByName(color);
  TRACEDB_TRY(TakeZone(*ingest, ingest_texts, line.ingest));
  SetFormats(formats, line);
  TRACEDB_TRY(CheckValues(line, query->count("--command") > 0));
  TRACEDB_ASSIGN(command, ChosenCommand(app));
  line.command = command;
  return line;
}

}  // namespace

Result<CommandLine> ParseCommandLine(int argc, const char* const* argv) {
  std::vector<const char*> words(argv, argv + argc);
  if (argc > 1 && std::string_view(argv[1]) == "help") {  // as others have it
    words.erase(words.begin() + 1);
    words.push_back("--help");
  }
  return Parse(static_cast<int>(words.size()), words.data());
}

}  // namespace tracedb
