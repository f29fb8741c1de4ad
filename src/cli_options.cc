#include "cli_options.h"

#include <CLI/CLI.hpp>
#include <cmath>
#include <cstdlib>
#include <map>
#include <sstream>

#include "cli_options_parts.h"
#include "tracedb/memory/load_limits.h"

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
    "Exit codes: 0 done, 1 it failed, 2 wrong usage, 3 an --assert did not hold,\n"
    "4 doctor found something.";

// "128M", "1.5G", "262144": bytes. Throws what CLI11 turns into a usage error.
size_t ParseSize(const std::string& text) {
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
      throw CLI::ValidationError("--memory", "'" + text + "' is no size; write 128M or 2G");
    }
  }
  return static_cast<size_t>(number * static_cast<double>(uint64_t{1} << shift->second));
}

void AddGlobal(CLI::App& app, CommandLine& line, std::string& color) {
  app.add_option("--db", line.global.database,
                 "the database (default: $TRACEDB_DB, else trace.db here)")
      ->type_name("PATH");
  app.add_flag("-q,--quiet", line.global.quiet, "no progress, no notes, no summary");
  app.add_flag("-v,--verbose", line.global.verbose, "say more on standard error");
  app.add_option("--color", color, "auto, always or never (NO_COLOR is honoured)")
      ->check(CLI::IsMember({"auto", "always", "never"}))
      ->type_name("WHEN");
}

// Options that are read as text and looked at once all are there.
struct IngestTexts {
  std::string memory;
  std::string args = "all";
  std::string format = "text";
};

void AddIngest(CLI::App& app, IngestOptions& options, IngestTexts& texts) {
  app.add_option("INPUT", options.inputs,
                 "trace files, folders (searched recursively), or - for standard input; .json, "
                 ".json.gz and .json.zst are told apart by content")
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
         "at a time where that is more: on 10 cores or more, with several files)")
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
  app.add_option("--format", texts.format, "the closing summary: text or json")
      ->check(CLI::IsMember({"text", "json"}))
      ->type_name("text|json");
  app.add_option("--block-bytes", options.block_bytes, "")->group("");
}

// Of a result; FormatByName knows them all.
void AddFormat(CLI::App& app, std::string& format, const std::string& otherwise = "") {
  app.add_option("--format", format, "table, csv, tsv, json, ndjson or markdown" + otherwise)
      ->check(CLI::IsMember({"table", "csv", "tsv", "json", "ndjson", "markdown"}))
      ->type_name("FORMAT");
}

void AddQuery(CLI::App& app, QueryArguments& options, std::string& format) {
  app.add_option("QUERY", options.source,
                 "a canned query's name, a file of SQL, or - for standard input; none: list them");
  app.add_option("-c,--command", options.command, "run this SQL")->type_name("SQL");
  app.add_option("-p,--param", options.params, "a parameter of the query; may be repeated")
      ->type_name("KEY=VALUE")
      ->expected(1)
      ->take_all()
      ->allow_extra_args(false);
  AddFormat(app, format, " (default: table on a terminal, else csv)");
  app.add_option("-o,--output", options.output, "write to this file, whole or not at all")
      ->check(IsNamed)
      ->type_name("FILE");
  AddForce(app, options.force);
  app.add_flag("--no-header", options.no_header, "no line with the columns' names");
  app.add_flag(
      "--safe-csv", options.safe_csv,
      "csv for spreadsheets: what starts like a formula (= + - @) gets a ' in front, at the start "
      "of a text and after ; tab or line break within it");
  app.add_flag("--plot", options.plot,
               "draw the result: bars, shares or lines, as the query's header says");
  app.add_flag("--explain", options.explain, "show what the query means, and its SQL");
  app.add_flag("--schema", options.schema, "show the tables, views and columns that SQL may name");
  app.add_option("--assert", options.assert_expression,
                 "an SQL expression over the result's columns that every row must fulfil; exit 3 "
                 "if one does not")
      ->type_name("EXPR");
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
      "Addresses: /  a page with all there is;  /QUERY.csv?PARAM=VALUE;  /queries.csv;  /report\n"
      "/tables/NAME.csv?limit=&offset=&order=COLUMN,-COLUMN;  /healthz\n"
      "Everywhere: ?format=csv|tsv|json|ndjson  ?header=0  ?bom=1 (for Excel)  ?safe=0|1");
}

void AddInfo(CLI::App& app, InfoOptions& options, std::string& format) {
  CLI::Option* issues = app.add_flag("--issues", options.issues, "what was wrong in the traces");
  app.add_flag("--schema", options.schema,
               "the tables, views and columns that SQL may name; needs no database")
      ->excludes(issues);
  AddFormat(app, format);
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
      "leave\ntogether. Every ingest ends with it. A table shows the clocks, and how well each two "
      "agree;\nthe other formats show the clocks. Queries: clocks, clock_pairs.");
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
      "means.");
}

void AddReport(CLI::App& app, ReportArguments& arguments) {
  app.add_option("-o,--output", arguments.output,
                 "write to this file, whole or not at all (default report.html; - is standard "
                 "output)")
      ->check(IsNamed)
      ->type_name("FILE");
  AddForce(app, arguments.force);
  app.add_option("--run", arguments.run,
                 "the run that it is of, where there are several (default: the last to begin)")
      ->type_name("NAME");
  app.add_option("--capture", arguments.capture,
                 "of this capture of the run alone, by its number (default: all; charts over time "
                 "of the first)")
      ->type_name("N");
  app.footer(
      "One HTML page that loads nothing from a network: figures, charts, tables, doctor's "
      "checks.\nEach part says which query it is of.");
}

std::filesystem::path DefaultDatabase() {
  const char* from_environment = std::getenv("TRACEDB_DB");
  return from_environment != nullptr && *from_environment != '\0' ? from_environment : "trace.db";
}

Error UsageError(const CLI::App& app, const std::string& what) {
  const auto chosen = app.get_subcommands();
  const std::string command = chosen.empty() ? "tracedb" : "tracedb " + chosen[0]->get_name();
  return Error{ErrorKind::kUsage, what.substr(0, what.find('\n')), "see: " + command + " --help"};
}

Result<Command> ChosenCommand(const CLI::App& app) {
  const std::map<std::string, Command> commands = {
      {"ingest", Command::kIngest}, {"query", Command::kQuery},   {"serve-csv", Command::kServe},
      {"info", Command::kInfo},     {"align", Command::kAlign},   {"doctor", Command::kDoctor},
      {"cut", Command::kCut},       {"report", Command::kReport}, {"what-if", Command::kWhatIf}};
  const auto chosen = app.get_subcommands();
  if (!chosen.empty()) return commands.at(chosen[0]->get_name());
  return Error{
      ErrorKind::kUsage,
      "a command is missing: ingest, query, what-if, serve-csv, report, info, align, doctor or "
      "cut",
      "see: tracedb --help"};
}

// What CLI11 cannot tell of a value.
Status CheckValues(const CommandLine& line, bool has_sql) {
  const size_t memory_bytes = line.ingest.memory_bytes;
  if (memory_bytes != 0 && memory_bytes < LoadLimits::kMemoryBytesMin) {
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

}  // namespace

Result<CommandLine> ParseCommandLine(int argc, const char* const* argv) {
  CommandLine line;
  CLI::App app(kDescription, "tracedb");
  app.footer(kFooter);
  app.set_version_flag("--version", std::string("tracedb ") + TRACEDB_VERSION,
                       "show the version and go");
  app.require_subcommand(0, 1);
  app.fallthrough();
  std::string color = "auto";
  IngestTexts ingest_texts;
  std::string query_format;
  std::string info_format;
  std::string align_format;
  std::string report_format = "text";
  std::string what_if_format;
  AddGlobal(app, line, color);
  CLI::App* ingest = app.add_subcommand("ingest", "load traces into the database");
  CLI::App* query = app.add_subcommand("query", "ask the database something");
  CLI::App* what_if = app.add_subcommand("what-if", "how long steps would take without a cause");
  CLI::App* serve = app.add_subcommand("serve-csv", "queries and tables over HTTP, as CSV");
  CLI::App* report = app.add_subcommand("report", "one HTML page with charts of all of it");
  CLI::App* info = app.add_subcommand("info", "what is in the database");
  CLI::App* align = app.add_subcommand("align", "compare the clocks of the ranks");
  CLI::App* doctor = app.add_subcommand("doctor", "what is suspicious in traces or a database");
  CLI::App* cut = app.add_subcommand("cut", "a window of it as a trace that Perfetto opens");
  AddIngest(*ingest, line.ingest, ingest_texts);
  AddQuery(*query, line.query, query_format);
  AddServe(*serve, line.serve);
  AddReport(*report, line.report);
  AddInfo(*info, line.info, info_format);
  AddAlign(*align, line.align, align_format);
  AddDoctor(*doctor, line.doctor, report_format);
  AddCut(*cut, line.cut);
  AddWhatIf(*what_if, line.what_if);
  AddFormat(*what_if, what_if_format, " (default: table on a terminal, else csv)");
  for (CLI::App* command : app.get_subcommands({})) command->fallthrough();
  try {
    app.parse(argc, argv);
    if (!ingest_texts.memory.empty()) line.ingest.memory_bytes = ParseSize(ingest_texts.memory);
  } catch (const CLI::Success& asked_for_text) {
    std::ostringstream text;
    std::ostringstream errors;
    app.exit(asked_for_text, text, errors);
    line.text = text.str();
    return line;
  } catch (const CLI::ParseError& error) {
    return UsageError(app, error.what());
  }
  if (line.global.database.empty()) line.global.database = DefaultDatabase();
  line.global.color = color == "always"  ? ColorChoice::kAlways
                      : color == "never" ? ColorChoice::kNever
                                         : ColorChoice::kAuto;
  line.ingest.keep_args = ingest_texts.args == "all";
  line.ingest.json = ingest_texts.format == "json";
  line.query.format = FormatByName(query_format);
  line.info.format = FormatByName(info_format);
  line.align.format = FormatByName(align_format);
  line.what_if.format = FormatByName(what_if_format);
  line.doctor.json = report_format == "json";
  TRACEDB_TRY(CheckValues(line, query->count("--command") > 0));
  TRACEDB_ASSIGN(command, ChosenCommand(app));
  line.command = command;
  return line;
}

}  // namespace tracedb
