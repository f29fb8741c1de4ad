#include <fcntl.h>
#include <fmt/format.h>
#include <malloc.h>
#include <spawn.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <vector>

#include "cli_commands.h"
#include "cli_functions.h"
#include "tracedb/cut/cut_command.h"
#include "tracedb/query/doc/query_builtin.h"
#include "tracedb/serve/serve_command.h"

namespace tracedb {
namespace {

// Starts $BROWSER, else what the desktop has, and does not wait for it.
bool OpenBrowser(const std::string& url) {
  const char* named = std::getenv("BROWSER");
  std::string program = named != nullptr && *named != '\0' ? named : "xdg-open";
  std::string address = url;
  std::vector<char*> arguments = {program.data(), address.data(), nullptr};
  posix_spawn_file_actions_t files;
  if (posix_spawn_file_actions_init(&files) != 0) return false;
  posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  pid_t child = 0;
  const int code =
      posix_spawnp(&child, program.c_str(), &files, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&files);
  return code == 0;
}

// Of a request that was read already.
Status WriteServedCut(const std::filesystem::path& database, const ServedCut& cut,
                      const std::function<bool()>& should_stop, OutputStream& output,
                      std::vector<std::string>& notes) {
  CutOptions options;
  options.database = database;
  options.start = fmt::format("{:.6f}ms", std::max(cut.from_ms, 0.0));
  options.end = fmt::format("{:.6f}ms", std::max(cut.to_ms, 0.000001));
  options.run = cut.run;
  options.capture = cut.capture;
  options.incoming = cut.incoming;
  options.events_max = cut.events_max;
  TRACEDB_ASSIGN(report, CutPacked(options, should_stop, output));
  notes = std::move(report.notes);
  return Done{};
}

}  // namespace

Status RunServe(const GlobalOptions& global, const ServeArguments& arguments,
                const std::atomic<bool>& stop) {
  // A heap for every few connections would never give back what one of them needed once.
  constexpr int kHeaps = 2;
  mallopt(M_ARENA_MAX, kHeaps);
  std::signal(SIGCHLD, SIG_IGN);  // the browser is not waited for
  ServeOptions options = arguments.serve;
  TRACEDB_ASSIGN(token, FindToken(global, arguments));
  options.token = token;
  options.database = global.database;
  options.version = TRACEDB_VERSION;
  options.on_open = [](SqliteDb& db) -> Status { return AddFunctions(db); };
  options.on_cut = [database = global.database](const ServedCut& cut, const auto& should_stop,
                                                OutputStream& output, auto& notes) {
    return WriteServedCut(database, cut, should_stop, output, notes);
  };
  options.on_note = [&global](const std::string& note) { SayNote(global, note); };
  options.on_ready = [&](const std::string& url, const std::string& page) {
    SayNote(global, fmt::format("{} is at {}{} (ctrl-C ends it)", global.database.string(), url,
                                options.token.empty() ? "" : "?token=..."));
    if (arguments.open && !OpenBrowser(page)) {
      SayNote(global, "--open: there is no browser to start; open the address above");
    }
  };
  TRACEDB_ASSIGN(catalog, QueryCatalog::Load(BuiltInQueries()));
  return ServeCsv(options, catalog, stop);
}

}  // namespace tracedb
