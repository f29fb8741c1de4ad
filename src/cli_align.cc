#include <fmt/format.h>

#include <string>

#include "cli_commands.h"
#include "cli_progress.h"
#include "tracedb/memory/load_limits.h"
#include "tracedb/query/doc/query_builtin.h"
#include "tracedb/query/run/query_database.h"
#include "tracedb/ranks/clocks/align_clocks.h"
#include "tracedb/ranks/graphs/graph_kernels.h"
#include "tracedb/ranks/stalls/stall_causes.h"

namespace tracedb {
namespace {

constexpr const char* kComparing = "comparing the ranks' clocks";
constexpr const char* kExplaining = "finding out why ranks waited";
constexpr int64_t kCacheKib = 8192;  // of the command align, which has no --memory

Status Show(const GlobalOptions& global, Format format) {
  TRACEDB_ASSIGN(catalog, QueryCatalog::Load(BuiltInQueries()));
  return WriteForPerson(global, [&](OutputStream& output) -> Status {
    TRACEDB_TRY(ShowQuery(global, catalog, "clocks", format, output));
    // The other formats are for programs: one result each.
    if (format != Format::kTable) return Done{};
    TRACEDB_TRY(output.Write("\n"));
    return ShowQuery(global, catalog, "clock_pairs", format, output);
  });
}

std::string Corrected(const AlignReport& report) {
  return fmt::format("the clocks of {} of {} ranks are corrected, by up to {:.3f} ms",
                     report.ranks_moved, report.ranks,
                     static_cast<double>(report.largest_ns) / 1e6);
}

// Corrections that are no clock's.
void SayRefused(const GlobalOptions& global, const AlignReport& report) {
  if (report.ranks_refused == 0) return;
  SayNote(global,
          fmt::format("{} of {} ranks would need a correction longer than the capture: it is "
                      "not applied, and their waits mean nothing (tracedb doctor)",
                      report.ranks_refused, report.ranks));
}

// Parts of the job that nothing compares with one another.
void SayParts(const GlobalOptions& global, const AlignReport& report) {
  if (report.references.size() < 2) return;
  std::string ranks;
  for (const int64_t rank : report.references) {
    ranks += fmt::format("{}{}", ranks.empty() ? "" : ", ", rank);
  }
  SayNote(global, fmt::format("nothing tells how the clocks of ranks {} compare, each with those "
                              "that it shares collectives with",
                              ranks));
}

// Leaves alone what is no database of tracedb, or one of another version.
Status CheckDatabase(const GlobalOptions& global) {
  TRACEDB_ASSIGN(db, OpenTraceDatabase(global.database));
  return Done{};
}

Status Reset(const GlobalOptions& global, SqliteDb& db) {
  TRACEDB_ASSIGN(changed, ResetClocks(db));
  if (changed) TRACEDB_TRY(ExplainStalls(db, ExplainScope::kEverything));
  SayNote(global, changed ? "all times are as the traces have them"
                          : "all times were as the traces have them");
  return Done{};
}

}  // namespace

Status CompareRanks(const GlobalOptions& global, SqliteDb& db, size_t graph_bytes_max) {
  ProgressLine progress(global);
  progress.Show({kComparing});
  TRACEDB_TRY(AttributeGraphKernels(db, graph_bytes_max));
  TRACEDB_ASSIGN(report, AlignClocks(db, AlignScope::kNewTraces));
  if (report.changed && report.ranks_moved > 0) {
    SayNote(global, Corrected(report) + " (tracedb align --show)");
  }
  SayRefused(global, report);
  const ExplainScope scope = report.changed ? ExplainScope::kEverything : ExplainScope::kNewTraces;
  progress.Show({kExplaining});
  return ExplainStalls(db, scope);
}

Status RunAlign(const GlobalOptions& global, const AlignOptions& options,
                const std::atomic<bool>& stop) {
  GlobalOptions told = global;
  if (!options.database.empty()) told.database = options.database;
  const Format format = options.format.value_or(Format::kTable);
  if (options.show) return Show(told, format);
  TRACEDB_TRY(CheckDatabase(told));
  TRACEDB_ASSIGN(db, OpenToCompare(told.database, kCacheKib, &stop));
  if (options.reset) return Reset(told, db);
  ProgressLine progress(told);
  progress.Show({kComparing});
  TRACEDB_ASSIGN(report, AlignClocks(db, AlignScope::kEverything));
  const ExplainScope scope = report.changed ? ExplainScope::kEverything : ExplainScope::kNewTraces;
  progress.Show({kExplaining});
  TRACEDB_TRY(ExplainStalls(db, scope));
  progress.Hide();
  if (report.ranks_moved > 0) SayNote(told, Corrected(report));
  SayRefused(told, report);
  SayParts(told, report);
  return Show(told, format);
}

}  // namespace tracedb
