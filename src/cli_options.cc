#include "cli_options.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <map>
#include <sstream>
#include <string_view>
#include <utility>
#include <vector>

#include "cli_mistakes.h"
#include "cli_options_parts.h"
#include "cli_time_zone.h"
#include "tracedb/help/completion_script.h"
#include "tracedb/help/help_text.h"
#include "tracedb/help/man_page.h"
#include "tracedb/memory/load_limits.h"
#include "tracedb/query/doc/query_builtin.h"
#include "tracedb/shards/launch_environment.h"

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

ColorChoice ColorByName(const std::string& name) {
  if (name == "always") return ColorChoice::kAlways;
  return name == "never" ? ColorChoice::kNever : ColorChoice::kAuto;
}

Status TakeZone(const CLI::App& ingest, const IngestTexts& texts, IngestOptions& options) {
  if (!ingest.parsed() || ingest.count("--tz") == 0) return Done{};
  TRACEDB_ASSIGN(offset_ns, UtcOffsetNs(texts.zone));
  options.utc_offset_ns = offset_ns;
  return Done{};
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

// Of a line that CLI11 does not read to its end: it asks for help or the version, or is wrong.
Result<CommandLine> Refused(const CLI::App& app, const std::vector<const char*>& arguments,
                            const CLI::Error& why, CommandLine line) {
  if (dynamic_cast<const CLI::CallForHelp*>(&why) != nullptr) {
    return AskedHelp(app, {arguments.begin() + 1, arguments.end()}, std::move(line));
  }
  if (dynamic_cast<const CLI::Success*>(&why) != nullptr) {
    std::ostringstream text;
    std::ostringstream errors;
    app.exit(why, text, errors);
    line.text = text.str();
    return line;
  }
  if (dynamic_cast<const CLI::ExtrasError*>(&why) != nullptr) return ParseAgain(app, arguments);
  return WrongUsage(app, why.what());
}

// What is read as text and looked at once all is there.
struct LineTexts {
  std::string color = "auto";
  IngestTexts ingest;
  WatchTexts watch;
  FormatTexts formats;
  std::string shell;
  bool man = false;
};

// Which commands have their options: making all takes as long as a tenth of the ingest of a small
// trace. What is wrong with a line is said with all of them at hand.
enum class Known { kOfWords, kAll };

// The commands in the order in which help has them.
class Commands {
 public:
  Commands(CLI::App& app, Known known, std::vector<std::string_view> words)
      : app_(app), known_(known), words_(std::move(words)) {}

  void Add(const char* name, const char* what, const std::function<void(CLI::App&)>& add_options,
           const char* alias = "") {
    CLI::App* const command = app_.add_subcommand(name, what);
    if (*alias != '\0') command->alias(alias);
    if (known_ == Known::kAll || IsWord(name) || IsWord(alias)) add_options(*command);
    command->fallthrough();
  }

 private:
  bool IsWord(const char* name) const {
    return std::find(words_.begin(), words_.end(), name) != words_.end();
  }

  CLI::App& app_;
  Known known_;
  std::vector<std::string_view> words_;
};

void AddCommands(Commands commands, CommandLine& line, LineTexts& texts) {
  using App = CLI::App;
  commands.Add("ingest", "load traces into the database",
               [&](App& app) { AddIngest(app, line.ingest, texts.ingest); });
  commands.Add("gather", "the summaries of many ranks as one database",
               [&](App& app) { AddGather(app, line.gather); });
  commands.Add("watch", "load the traces of a folder as they appear",
               [&](App& app) { AddWatch(app, line.watch, texts.watch); });
  commands.Add("query", "ask the database something",
               [&](App& app) { AddQuery(app, line.query, texts.formats.query); });
  commands.Add("what-if", "how long steps would take without a cause", [&](App& app) {
    AddWhatIf(app, line.what_if);
    AddFormat(app, texts.formats.what_if, kByEnding);
  });
  commands.Add("compare", "did a change help, and is it beyond noise",
               [&](App& app) { AddCompare(app, line.compare); });
  commands.Add("baseline", "how far runs that are alike lie apart",
               [&](App& app) { AddBaseline(app, line.baseline); });
  commands.Add(
      "serve-csv", "queries and tables over HTTP, as CSV",
      [&](App& app) { AddServe(app, line.serve); }, "serve");
  commands.Add("report", "one HTML page with charts of all of it",
               [&](App& app) { AddReport(app, line.report); });
  commands.Add("shell", "a prompt over the database", AddShell);
  commands.Add("export",
               "queries as a workbook (.xlsx) or Parquet files, or one as SQL of an engine",
               [&](App& app) { AddExport(app, line.workbook); });
  commands.Add("info", "what is in the database",
               [&](App& app) { AddInfo(app, line.info, texts.formats.info); });
  commands.Add("align", "compare the clocks of the ranks",
               [&](App& app) { AddAlign(app, line.align, texts.formats.align); });
  commands.Add("doctor", "what is suspicious in traces or a database",
               [&](App& app) { AddDoctor(app, line.doctor, texts.formats.doctor); });
  commands.Add("cut", "a window of it as a trace that Perfetto opens",
               [&](App& app) { AddCut(app, line.cut); });
  commands.Add("completion", "what a shell needs to complete words",
               [&](App& app) { AddCompletion(app, texts.shell); });
}

// What a line that CLI11 has read asks for.
Result<CommandLine> Chosen(const CLI::App& app, const LineTexts& texts, CommandLine line) {
  PlaceDatabase(line);
  line.global.color = ColorByName(texts.color);
  TRACEDB_TRY(TakeZone(*app.get_subcommand("ingest"), texts.ingest, line.ingest));
  SetFormats(texts.formats, line);
  const CLI::App& query = *app.get_subcommand("query");
  TRACEDB_TRY(CheckValues(line, query.parsed() && query.count("--command") > 0));
  TRACEDB_ASSIGN(command, ChosenCommand(app));
  line.command = command;
  return line;
}

Result<CommandLine> Parse(int argc, const char* const* argv, Known known) {
  CommandLine line;
  LineTexts texts;
  CLI::App app(kDescription, "tracedb");
  app.footer(kFooter);
  app.set_version_flag("--version", std::string("tracedb ") + TRACEDB_VERSION,
                       "show the version and go");
  app.require_subcommand(0, 1);
  app.fallthrough();
  AddGlobal(app, line, texts.color, texts.man);
  AddCommands({app, known, {argv + 1, argv + argc}}, line, texts);
  try {
    app.parse(argc, argv);
    TakeIngestTexts(texts.ingest, line.ingest);
    TakeWatchTexts(texts.watch, line.watch);
  } catch (const CLI::Error& error) {
    if (known != Known::kAll) return Parse(argc, argv, Known::kAll);
    return Refused(app, {argv, argv + argc}, error, std::move(line));
  }
  if (texts.man || app.get_subcommand("completion")->parsed()) {
    if (known != Known::kAll) return Parse(argc, argv, Known::kAll);
    return GeneratedText(app, texts.shell, std::move(line));
  }
  return Chosen(app, texts, std::move(line));
}

}  // namespace

Result<CommandLine> ParseCommandLine(int argc, const char* const* argv) {
  std::vector<const char*> words(argv, argv + argc);
  if (words.empty()) words.push_back("tracedb");
  if (argc > 1 && std::string_view(argv[1]) == "help") {  // as others have it
    words.erase(words.begin() + 1);
    words.push_back("--help");
  }
  return Parse(static_cast<int>(words.size()), words.data(), Known::kOfWords);
}

}  // namespace tracedb
