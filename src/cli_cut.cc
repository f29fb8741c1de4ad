#include <fmt/format.h>

#include "cli_commands.h"
#include "cli_functions.h"
#include "tracedb/cut/cut_command.h"

namespace tracedb {

Status RunCut(const GlobalOptions& global, const CutOptions& options,
              const std::atomic<bool>& stop) {
  CutOptions told = options;
  told.database = global.database;
  told.on_open = [](SqliteDb& db) -> Status { return AddFunctions(db); };
  TRACEDB_ASSIGN(report, CutTrace(told, stop));
  for (const std::string& note : report.notes) SayNote(global, note);
  if (options.output != "-") {
    SayNote(global, fmt::format("{}: {} event{} ({} slice{})", options.output.string(),
                                report.events, report.events == 1 ? "" : "s", report.slices,
                                report.slices == 1 ? "" : "s"));
  }
  return Done{};
}

}  // namespace tracedb
