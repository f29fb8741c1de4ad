#include <fmt/format.h>

#include "cli_commands.h"
#include "tracedb/cut/cut_command.h"
#include "tracedb/extension/interval_functions.h"

namespace tracedb {

Status RunCut(const GlobalOptions& global, const CutOptions& options,
              const std::atomic<bool>& stop) {
  CutOptions told = options;
  told.database = global.database;
  told.on_open = [](SqliteDb& db) -> Status {
    if (RegisterIntervalFunctions(db.handle()) != 0) return SqliteError(db.handle(), "");
    return Done{};
  };
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
