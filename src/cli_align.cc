#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <string>
#include <system_error>

#include "cli_commands.h"
#include "cli_progress.h"
#include "tracedb/base/cores.h"
#include "tracedb/base/database_files.h"
#include "tracedb/base/folder_sync.h"
#include "tracedb/base/run_caught.h"
#include "tracedb/ingest/load/rows_file.h"
#include "tracedb/memory/load_limits.h"
#include "tracedb/query/doc/query_builtin.h"
#include "tracedb/query/run/gathered_notes.h"
#include "tracedb/query/run/query_database.h"
#include "tracedb/ranks/clocks/align_clocks.h"
#include "tracedb/ranks/graphs/graph_kernels.h"
#include "tracedb/ranks/stalls/stall_causes.h"
#include "tracedb/shards/gather.h"

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
  TRACEDB_ASSIGN(gathered, IsGathered(db));
  if (!gathered) return Done{};
  return Error{ErrorKind::kInput,
               global.database.string() + ": gathered from summaries, and aligned when it was",
               "--show shows the clocks; tracedb gather aligns them anew"};
}

// On as many cores as memory allows.
ExplainOptions Explaining(ExplainScope scope, const std::atomic<bool>& stop,
                          size_t memory_bytes = LoadLimits::kMemoryBytesDefault) {
  const size_t most = std::max<size_t>(memory_bytes / 2 / kExplainBytesEach, 2) - 1;
  const unsigned cores = CoresToUse();
  ExplainOptions options;
  options.scope = scope;
  options.threads = static_cast<unsigned>(std::min<size_t>(cores, most));
  options.stop = &stop;
  return options;
}

Status Reset(const GlobalOptions& global, SqliteDb& db, const std::atomic<bool>& stop) {
  TRACEDB_ASSIGN(changed, ResetClocks(db));
  if (changed) TRACEDB_TRY(ExplainStalls(db, Explaining(ExplainScope::kEverything, stop)));
  SayNote(global, changed ? "all times are as the traces have them"
                          : "all times were as the traces have them");
  return Done{};
}

}  // namespace

Status CompareRanks(const GlobalOptions& global, SqliteDb& db, const LoadLimits& limits,
                    const std::atomic<bool>& stop) {
  ProgressLine progress(global);
  progress.Show({kComparing});
  TRACEDB_TRY(AttributeGraphKernels(db, limits.graphs));
  TRACEDB_ASSIGN(report, AlignClocks(db, AlignScope::kNewTraces));
  if (report.changed && report.ranks_moved > 0) {
    SayNote(global, Corrected(report) + " (tracedb align --show)");
  }
  SayRefused(global, report);
  const ExplainScope scope = report.changed ? ExplainScope::kEverything : ExplainScope::kNewTraces;
  progress.Show({kExplaining});
  return ExplainStalls(db, Explaining(scope, stop, limits.memory_bytes));
}

Status RunAlign(const GlobalOptions& global, const AlignOptions& options,
                const std::atomic<bool>& stop) {
  GlobalOptions told = global;
  if (!options.database.empty()) told.database = options.database;
  const Format format = options.format.value_or(Format::kTable);
  if (options.show) return Show(told, format);
  TRACEDB_TRY(CheckDatabase(told));
  TRACEDB_ASSIGN(db, OpenToCompare(told.database, kCacheKib, &stop));
  if (options.reset) return Reset(told, db, stop);
  ProgressLine progress(told);
  progress.Show({kComparing});
  TRACEDB_ASSIGN(report, AlignClocks(db, AlignScope::kEverything));
  const ExplainScope scope = report.changed ? ExplainScope::kEverything : ExplainScope::kNewTraces;
  progress.Show({kExplaining});
  TRACEDB_TRY(ExplainStalls(db, Explaining(scope, stop)));
  progress.Hide();
  if (report.ranks_moved > 0) SayNote(told, Corrected(report));
  SayRefused(told, report);
  SayParts(told, report);
  return Show(told, format);
}

namespace {

// A gathered database may take the place of an older one, and of nothing else.
Status CheckGatherTarget(const std::filesystem::path& target, bool force) {
  TRACEDB_TRY(CheckNameIsFree(target));
  std::error_code error;
  for (const std::string_view ending : kCompanionEndings) {
    if (!std::filesystem::exists(CompanionOf(target, ending), error)) continue;
    return Error{ErrorKind::kOutput,
                 CompanionOf(target, ending).string() +
                     ": SQLite would take this for a part of the new database",
                 "somebody may be working with it; else move it away, or choose another -o"};
  }
  if (!std::filesystem::exists(target, error)) return Done{};
  if (force && IsSqliteFile(target)) return Done{};
  if (force && (!std::filesystem::is_regular_file(target, error) ||
                std::filesystem::file_size(target, error) > 0)) {
    return Error{ErrorKind::kUsage,
                 target.string() + ": it is there, and no database, which --force may replace",
                 "name another with -o"};
  }
  if (force) return Done{};
  TRACEDB_ASSIGN(db, OpenTraceDatabase(target));
  TRACEDB_ASSIGN(gathered, IsGathered(db));
  if (gathered) return Done{};
  return Error{ErrorKind::kUsage,
               target.string() + ": it is there, and was not made by tracedb gather",
               "name another with -o; --force replaces it"};
}

Status PutInPlace(RowsFile& rows, const std::filesystem::path& target) {
  if (fsync(rows.descriptor()) != 0) return FileError(rows.path(), "sync", kFolderAdvice);
  if (rename(rows.path().c_str(), target.c_str()) != 0) {
    return FileError(target, "put the finished database there", kFolderAdvice);
  }
  rows.Landed();
  return SyncFolderOf(target);
}

// "the first three, and how many more"
Error PartialResult(const GatherReport& report) {
  constexpr size_t kNamed = 3;
  const int64_t ranks = report.MissingRanks();
  std::string what = fmt::format("{} rank{} ha{} no whole summary: ", ranks, ranks == 1 ? "" : "s",
                                 ranks == 1 ? "s" : "ve");
  int64_t named = 0;
  for (size_t i = 0; i < std::min(kNamed, report.troubles.size()); ++i) {
    what += (i == 0 ? "" : "; ") + report.troubles[i].text;
    named += report.troubles[i].ranks;
  }
  if (ranks > named) {
    what += fmt::format("; and {} more (tracedb info --issues)", ranks - named);
  }
  return Error{ErrorKind::kInput, what,
               "the database has the others; run tracedb ingest --shard again for these, then "
               "gather again"};
}

Status Gather(const GlobalOptions& global, const GatherArguments& arguments,
              const std::atomic<bool>& stop) {
  constexpr int64_t kGatherCacheKib = 131'072;
  PrepareSqliteForIngest();
  const std::filesystem::path target =
      RealName(arguments.output.empty() ? global.database : arguments.output);
  TRACEDB_TRY(CheckGatherTarget(target, arguments.force));
  RowsFile::RemoveLeft(target);
  TRACEDB_ASSIGN(rows, RowsFile::Make(target));
  ProgressLine progress(global);
  GatherOptions options;
  options.folder = arguments.folder;
  options.database = rows.path();
  if (!arguments.run.empty()) options.run = arguments.run;
  options.cache_kib = kGatherCacheKib;
  options.stop = &stop;
  options.on_progress = [&](const std::string& doing, size_t done, size_t all) {
    progress.Show({doing, fmt::format("{} of {}", done, all), done, all, 0, 0, doing});
  };
  TRACEDB_ASSIGN(gathered, GatheredDatabase::Make(options));
  {
    TRACEDB_ASSIGN(db, OpenToCompare(rows.path(), kGatherCacheKib, &stop));
    TRACEDB_TRY(db.Execute("PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF"));
    progress.Show({kComparing});
    TRACEDB_ASSIGN(report, AlignClocks(db, AlignScope::kEverything));
    if (report.ranks_moved > 0) SayNote(global, Corrected(report) + " (tracedb align --show)");
    SayRefused(global, report);
    progress.Show({kExplaining});
    ExplainOptions explain;
    explain.scope = ExplainScope::kEverything;
    explain.before_causes = [&](SqliteDb& at) { return gathered.AddStallSlices(at); };
    TRACEDB_TRY(ExplainStalls(db, explain));
    const Status written = gathered.WriteForEngines(db, arguments.folder);
    if (!written.ok() && (stop.load() || written.error().what == kOutOfMemoryText)) return written;
    if (!written.ok()) {  // people who may only read the summaries have a database all the same
      SayNote(global, written.error().what + "; tracedb export --sql needs what was to be there");
    }
  }
  progress.Hide();
  TRACEDB_TRY(PutInPlace(rows, target));
  const GatherReport& report = gathered.report();
  if (report.repeated > 0) {
    SayNote(global,
            fmt::format("{} trace{} whose content another one has {} left out", report.repeated,
                        report.repeated == 1 ? "" : "s", report.repeated == 1 ? "is" : "are"));
  }
  std::error_code error;
  SayNote(global,
          fmt::format("{}: {} ranks, {} traces, {} of JSON in {}", target.string(), report.ranks,
                      report.traces, BytesText(static_cast<uint64_t>(report.text_bytes)),
                      BytesText(std::filesystem::file_size(target, error))));
  return report.troubles.empty() ? Status(Done{}) : Status(PartialResult(report));
}

}  // namespace

Status RunGather(const GlobalOptions& global, const GatherArguments& arguments,
                 const std::atomic<bool>& stop) {
  Status done = Gather(global, arguments, stop);
  if (done.ok() || done.error().advice != kFolderAdvice) return done;
  Error error = std::move(done).error();
  error.advice = "check that the folder exists and may be written, or choose another place with -o";
  return error;
}

}  // namespace tracedb
