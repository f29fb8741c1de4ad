// tracedb: runs the command, prints its error, picks the exit code.

#include <fcntl.h>
#include <fmt/format.h>
#include <malloc.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <exception>
#include <new>
#include <string_view>

#include "cli_commands.h"
#include "cli_functions.h"
#include "cli_options.h"
#include "cli_progress.h"
#include "cli_temporary.h"
#include "tracedb/base/run_caught.h"
#include "tracedb/engines/engine_command.h"
#include "tracedb/export/export_command.h"
#include "tracedb/query/doc/query_builtin.h"
#include "tracedb/query/run/gathered_notes.h"
#include "tracedb/query/run/query_command.h"
#include "tracedb/query/run/query_database.h"
#include "tracedb/shell/shell_command.h"
#include "tracedb/text/output_file.h"
#include "tracedb/text/result_text.h"
#include "tracedb/text/terminal_text.h"

namespace tracedb {
namespace {

// Set by ctrl-C and by TERM; the only state that a signal handler may touch.
std::atomic<bool> stop_asked = false;
static_assert(std::atomic<bool>::is_always_lock_free);

// When the first signal came; 0: none has.
std::atomic<int64_t> stop_asked_ns = 0;
static_assert(std::atomic<int64_t>::is_always_lock_free);

int64_t MonotonicNs() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

// The second time ends the program at once. `timeout` and job schedulers signal the program and
// then its group: what comes within a second is the same wish.
extern "C" void AskToStop(int signal_number) {
  constexpr int64_t kSameWishNs = 1'000'000'000;
  stop_asked.store(true);
  int64_t none = 0;
  if (stop_asked_ns.compare_exchange_strong(none, MonotonicNs())) return;
  if (MonotonicNs() - stop_asked_ns.load() < kSameWishNs) return;
  std::signal(signal_number, SIG_DFL);
  std::raise(signal_number);
}

// Descriptors 0 to 2 that are closed from the start would be given to the next file opened, and a
// note for standard error would end up in the database.
void KeepStandardDescriptors() {
  // Read-only: what is written to a closed standard output must fail, not vanish.
  for (int fd = open("/dev/null", O_RDONLY); fd >= 0; fd = open("/dev/null", O_RDONLY)) {
    if (fd > STDERR_FILENO) {
      close(fd);
      return;
    }
  }
}

void SetUpSignals() {
  struct sigaction action = {};
  action.sa_handler = AskToStop;  // without SA_RESTART: a waiting read or lock comes back
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction before = {};
    sigaction(signal, nullptr, &before);
    if (before.sa_handler != SIG_IGN) sigaction(signal, &action, nullptr);  // nohup stays nohup
  }
  std::signal(SIGPIPE, SIG_IGN);  // a closed pipe comes back as an error of write
  std::signal(SIGXFSZ, SIG_IGN);  // so does a file-size limit
}

// Of what is written to that descriptor.
bool Colored(const GlobalOptions& global, int descriptor) {
  if (global.color != ColorChoice::kAuto) return global.color == ColorChoice::kAlways;
  const char* no_color = std::getenv("NO_COLOR");
  const char* terminal = std::getenv("TERM");
  const bool dumb = terminal != nullptr && std::string_view(terminal) == "dumb";
  return isatty(descriptor) == 1 && (no_color == nullptr || *no_color == '\0') && !dumb;
}

// A file that --output names is no terminal.
bool IsColored(const GlobalOptions& global, const std::filesystem::path& output) {
  const bool to_file = !output.empty() && output != "-";
  return Colored(global, to_file ? -1 : STDOUT_FILENO);
}

QueryOptions OptionsOf(const GlobalOptions& global) {
  QueryOptions options;
  options.database = global.database;
  options.pager = !global.no_pager;
  options.by_screen = true;
  options.quiet = global.quiet;
  options.on_open = [](SqliteDb& db) -> Status {
    db.StopWhen(stop_asked);
    return AddFunctions(db);
  };
  return options;
}

Status RunQuery(const GlobalOptions& global, const QueryArguments& arguments) {
  QueryOptions options = OptionsOf(global);
  options.source = arguments.source;
  options.command = arguments.command;
  options.params = arguments.params;
  options.format = arguments.format;
  options.output = arguments.output;
  options.force = arguments.force;
  options.header = !arguments.no_header;
  options.safe_csv = arguments.safe_csv;
  options.explain = arguments.explain;
  options.schema = arguments.schema;
  options.plot = arguments.plot;
  options.color = IsColored(global, arguments.output);
  options.wide = arguments.wide;
  options.vertical = arguments.vertical;
  options.detail = arguments.detail;
  options.assert_expression = arguments.assert_expression;
  TRACEDB_ASSIGN(catalog, QueryCatalog::Load(BuiltInQueries()));
  TRACEDB_ASSIGN(outcome, RunQueryCommand(options, catalog));
  if (!outcome.note.empty()) SayNote(global, outcome.note);
  return Done{};
}

void PrintError(const GlobalOptions& global, const Error& error) {
  constexpr std::string_view kProgram = "tracedb:";
  const bool colored = Colored(global, STDERR_FILENO);
  const size_t columns = TerminalColumns(STDERR_FILENO);
  const std::string what =
      WrapLines(fmt::format("{} {}\n", kProgram, ShownLines(error.what)), columns);
  WriteToStderr(fmt::format("{}{}{}{}", colored ? "\033[31m" : "", kProgram,
                            colored ? "\033[0m" : "", what.substr(kProgram.size())));
  if (error.advice.empty()) return;
  WriteToStderr(WrapLines(fmt::format("  {}\n", ShownLines(error.advice)), columns));
}

Status RunShellCommand(const GlobalOptions& global) {
  ShellOptions options;
  options.query = OptionsOf(global);
  options.query.color = IsColored(global, {});
  options.version = std::string("tracedb ") + TRACEDB_VERSION;
  options.take_stop = [] {
    stop_asked_ns.store(0);  // the next ctrl-C is another wish
    return stop_asked.exchange(false);
  };
  options.say = [&](const std::string& text) { SayNote(global, text); };
  options.say_error = [&](const Error& error) { PrintError(global, error); };
  TRACEDB_ASSIGN(catalog, QueryCatalog::Load(BuiltInQueries()));
  return RunShell(options, catalog);
}

Status ExportSql(const GlobalOptions& global, const ExportArguments& arguments) {
  TRACEDB_ASSIGN(catalog, QueryCatalog::Load(BuiltInQueries()));
  TRACEDB_ASSIGN(text, RunEngineExport({arguments.engine, arguments.queries, arguments.params,
                                        arguments.shards},
                                       catalog));
  if (arguments.output.empty()) {
    return WriteForPerson(global, [&](OutputStream& output) { return output.Write(text); });
  }
  TRACEDB_ASSIGN(file,
                 FileOutput::Create(arguments.output, {{global.database}, {}, arguments.force}));
  TRACEDB_TRY(file->Write(text));
  TRACEDB_TRY(file->Flush());
  return file->Commit();
}

Status RunExportCommand(const GlobalOptions& global, const ExportArguments& arguments) {
  if (!arguments.engine.empty()) return ExportSql(global, arguments);
  if (arguments.output.empty()) {
    return Error{ErrorKind::kUsage, "--output is required", "see: tracedb export --help"};
  }
  TRACEDB_ASSIGN(scratch, TemporaryFolder::Create("tracedb-export-"));
  ExportOptions options;
  options.database = global.database;
  const bool is_parquet = arguments.format == "parquet";
  options.format = is_parquet ? ExportFormat::kParquet : ExportFormat::kWorkbook;
  options.output = arguments.output;
  options.force = arguments.force;
  options.queries = arguments.queries;
  options.params = arguments.params;
  options.scratch = scratch->path();
  options.on_open = OptionsOf(global).on_open;
  ProgressLine progress(global);
  options.on_query = [&](const std::string& name, size_t number, size_t all) {
    progress.Show(
        {name, fmt::format("query {} of {}", number, all), number - 1, all, 0, 0, "queries"});
  };
  TRACEDB_ASSIGN(catalog, QueryCatalog::Load(BuiltInQueries()));
  TRACEDB_ASSIGN(outcome, RunExport(options, catalog));
  for (const std::string& note : outcome.notes) SayNote(global, note);
  SayNote(global, fmt::format("{} has {} rows of {} queries, a {} each",
                              ShownText(arguments.output.string()), outcome.rows, outcome.answers,
                              is_parquet ? "file" : "sheet"));
  return Done{};
}

// The database that a command reads or writes.
std::filesystem::path DatabaseOf(const CommandLine& line) {
  if (line.command == Command::kAlign && !line.align.database.empty()) return line.align.database;
  const bool is_named = line.command == Command::kDoctor && line.doctor.inputs.size() == 1;
  return is_named ? std::filesystem::path(line.doctor.inputs[0]) : line.global.database;
}

// cut is about single events, which are not in a gathered database.
Status CheckHasEvents(const std::filesystem::path& database) {
  auto db = OpenTraceDatabase(database);
  if (!db.ok()) return Done{};  // the command says what is wrong
  TRACEDB_ASSIGN(gathered, IsGathered(db.value()));
  if (!gathered) return Done{};
  TRACEDB_ASSIGN(place, FirstShardPlace(db.value()));
  return Error{ErrorKind::kInput,
               fmt::format("{}: gathered from summaries, which have no single events for tracedb "
                           "cut",
                           database.string()),
               fmt::format("add --detail --rank N, or use a rank's own database: tracedb cut --db "
                           "PATH; the first is {}",
                           place)};
}

// Of a command that changes no database: what it read into a temporary one is nobody's.
Status InterruptedAlone(Status done) {
  if (done.ok() || !stop_asked.load() || !done.error().what.ends_with("interrupted")) return done;
  return Error{ErrorKind::kInput, "interrupted", ""};
}

Status Run(const CommandLine& line) {
  OutputGuard guard;
  guard.databases = {DatabaseOf(line)};
  TRACEDB_TRY(guard.CheckStandardOutput());
  switch (line.command) {
    case Command::kIngest:
      return RunIngest(line.global, line.ingest, stop_asked);
    case Command::kGather:
      return RunGather(line.global, line.gather, stop_asked);
    case Command::kWatch:
      return RunWatch(line.global, line.watch, stop_asked);
    case Command::kQuery:
      return RunQuery(line.global, line.query);
    case Command::kServe:
      return RunServe(line.global, line.serve, stop_asked);
    case Command::kInfo:
      return RunInfo(line.global, line.info);
    case Command::kAlign:
      return RunAlign(line.global, line.align, stop_asked);
    case Command::kDoctor:
      return InterruptedAlone(RunDoctor(line.global, line.doctor, stop_asked));
    case Command::kCut:
      if (!line.cut.detail) TRACEDB_TRY(CheckHasEvents(line.global.database));
      return RunCut(line.global, line.cut, stop_asked);
    case Command::kReport:
      return RunReport(line.global, line.report, stop_asked);
    case Command::kWhatIf:
      return RunWhatIf(line.global, line.what_if, stop_asked);
    case Command::kCompare:
      return InterruptedAlone(RunCompare(line.global, line.compare, stop_asked));
    case Command::kBaseline:
      return InterruptedAlone(RunBaseline(line.global, line.baseline, stop_asked));
    case Command::kShell:
      return RunShellCommand(line.global);
    case Command::kExport:
      return RunExportCommand(line.global, line.workbook);
    case Command::kShowText: {
      DescriptorOutput output(STDOUT_FILENO, "standard output");
      TRACEDB_TRY(output.Write(line.text));
      return output.Flush();
    }
  }
  return Done{};
}

int ExitCode(const Error& error) {
  switch (error.kind) {
    case ErrorKind::kUsage:
      return 2;
    case ErrorKind::kAssert:
      return 3;
    case ErrorKind::kFindings:
      return 4;
    case ErrorKind::kUndecided:
      return 5;
    case ErrorKind::kClosed:
      return 0;
    case ErrorKind::kInput:
    case ErrorKind::kNoTrace:
    case ErrorKind::kOutput:
    case ErrorKind::kQuery:
    case ErrorKind::kUnfit:
      break;
  }
  return 1;
}

}  // namespace

void SayNote(const GlobalOptions& global, const std::string& note) {
  if (global.quiet) return;
  WriteToStderr(
      WrapLines(fmt::format("tracedb: {}\n", ShownLines(note)), TerminalColumns(STDERR_FILENO)));
}

int Main(int argc, const char* const* argv) {
  // Large blocks that are freed go back to the system, which is part of the memory bound; glibc
  // would learn from the first ones to keep the others.
  mallopt(M_MMAP_THRESHOLD, 1 << 20);
  KeepStandardDescriptors();
  SetUpSignals();
  const auto line = ParseCommandLine(argc, argv);
  if (!line.ok()) {
    PrintError({}, line.error());
    return ExitCode(line.error());
  }
  const Status done = RunCaught([&] { return Run(line.value()); });
  if (done.ok()) return 0;
  const ErrorKind kind = done.error().kind;
  // What was found is in the answer; with advice it is to be said to who sees no answer, too.
  const bool was_found = kind == ErrorKind::kFindings && done.error().advice.empty();
  const bool was_said = kind == ErrorKind::kClosed || was_found;
  if (!was_said) PrintError(line.value().global, done.error());
  return ExitCode(done.error());
}

}  // namespace tracedb

namespace {

// Asks for no memory itself.
int SayOutOfMemory() {
  constexpr char kMessage[] = "tracedb: out of memory\n";
  const ssize_t written = write(STDERR_FILENO, kMessage, sizeof kMessage - 1);
  (void)written;
  return 1;
}

}  // namespace

void tracedb::EndOutOfMemory() { _exit(SayOutOfMemory()); }

namespace {

// What is thrown where nothing can catch it: before main(), and in destructors of libraries. Then
// nothing is written yet, or the system undoes it as after a kill.
[[noreturn]] void EndUncaught() {
  try {
    if (std::current_exception() != nullptr) throw;
  } catch (const std::bad_alloc&) {
    tracedb::EndOutOfMemory();
  } catch (...) {
  }
  std::abort();
}

// Before the constructors of all other static objects.
[[gnu::constructor(101)]] void SetUpEnd() { std::set_terminate(EndUncaught); }

}  // namespace

int main(int argc, char** argv) {
  try {
    return tracedb::Main(argc, argv);
  } catch (...) {  // not even the message of an error could be made
    return SayOutOfMemory();
  }
}
