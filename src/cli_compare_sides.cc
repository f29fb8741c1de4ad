#include "cli_compare_sides.h"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>
#include <utility>

#include "cli_functions.h"
#include "tracedb/base/database_files.h"
#include "tracedb/ingest/load/trace_loads.h"
#include "tracedb/memory/load_limits.h"
#include "tracedb/query/run/query_database.h"
#include "tracedb/ranks/clocks/align_clocks.h"
#include "tracedb/ranks/samples/place_samples.h"
#include "tracedb/text/near_name.h"
#include "tracedb/text/result_text.h"

namespace tracedb {
namespace {

namespace fs = std::filesystem;

Result<SqliteDb> OpenRun(const fs::path& database, const std::atomic<bool>& stop) {
  TRACEDB_ASSIGN(db, OpenTraceDatabase(database));
  db.StopWhen(stop);
  TRACEDB_TRY(AddFunctions(db));
  return db;
}

Result<std::vector<std::string>> RunNames(SqliteDb& db) {
  std::vector<std::string> names;
  TRACEDB_ASSIGN(rows, db.Prepare("SELECT run FROM runs ORDER BY start_ns, run_id"));
  for (;;) {
    TRACEDB_ASSIGN(row, rows.Step());
    if (!row) return names;
    names.emplace_back(rows.Text(0));
  }
}

}  // namespace

Result<fs::path> RunInputs::Load(const std::string& input) {
  if (folder_ == nullptr) {
    PrepareToParse();
    TRACEDB_ASSIGN(folder, TemporaryFolder::Create("tracedb-compare-"));
    folder_ = std::move(folder);
  }
  progress_.Show({input, "reading", 0, 0, 0, 0, {}, true});
  GlobalOptions loading = global_;
  loading.quiet = true;  // of a database that nobody will see
  loading.database = folder_->path() / fmt::format("{}.db", databases_.size());
  databases_.push_back(loading.database);
  IngestOptions ingest;
  ingest.inputs = {input};
  const OnLoaded nothing_to_say{[](const LoadSummary&) -> Status { return Done{}; },
                                [](const SourceSummary&) -> Status { return Done{}; }};
  TRACEDB_ASSIGN(loaded, LoadInputs(loading, ingest, stop_, nothing_to_say));
  // A side with a rank less would be compared with all of the other.
  if (loaded.failed.has_value()) return *loaded.failed;
  if (!loaded.any) return loading.database;
  // As after an ingest: clocks, why ranks waited, whose the samples of GPUs are.
  const LoadLimits limits = LoadLimits::For(LoadLimits::kMemoryBytesDefault, 1);
  TRACEDB_ASSIGN(db, OpenToCompare(loading.database, limits.sqlite_cache_kib, &stop_));
  TRACEDB_TRY(CompareRanks(loading, db, limits, stop_));
  TRACEDB_TRY(PlaceSamples(db));
  return loading.database;
}

Result<RunInputs::Source> RunInputs::Locate(const std::string& input) {
  std::error_code code;
  std::string path = input;
  std::string run;
  const size_t mark = input.rfind('#');
  if (mark != std::string::npos && !fs::exists(input, code)) {
    path = input.substr(0, mark);
    run = input.substr(mark + 1);
    if (run.empty()) {
      return Error{ErrorKind::kUsage,
                   fmt::format("{}: the name of a run is missing after #", ShownText(input)),
                   "FILE.db#RUN; tracedb info lists the runs"};
    }
  }
  if (!fs::exists(path, code)) {
    return Error{ErrorKind::kInput, fmt::format("{}: there is no such file", ShownText(path)),
                 "a side is a database, FILE.db#RUN, or traces: a file or a folder"};
  }
  if (IsTraceDatabaseFile(path)) {
    databases_.emplace_back(path);
    return Source{input, path, run};
  }
  TRACEDB_ASSIGN(database, Load(path));
  return Source{input, database, run};
}

Result<RunToCompare> RunInputs::Choose(const Source& source) {
  TRACEDB_ASSIGN(db, OpenRun(source.database, stop_));
  TRACEDB_ASSIGN(runs, RunNames(db));
  std::string run = source.run;
  if (run.empty()) {
    if (runs.size() != 1) {
      return Error{ErrorKind::kUsage,
                   fmt::format("{}: there are {} runs in it", ShownText(source.name), runs.size()),
                   fmt::format("name one, such as '{}#{}'; tracedb info lists them",
                               ShownText(source.name), runs.empty() ? "RUN" : ShownText(runs[0]))};
    }
    run = runs[0];
  } else if (std::find(runs.begin(), runs.end(), run) == runs.end()) {
    const auto near = NearNames(run, runs);
    return Error{ErrorKind::kUsage,
                 fmt::format("{}: there is no such run in it", ShownText(source.name)),
                 near.empty() ? "tracedb info lists the runs" : DidYouMean(near)};
  }
  const fs::path database = source.database;
  const std::atomic<bool>& stop = stop_;
  return RunToCompare{source.name, run, database, runs.size() - 1,
                      [this, name = source.name, database, &stop] {
                        progress_.Show({name, "reading", 0, 0, 0, 0, {}, true});
                        return OpenRun(database, stop);
                      }};
}

Result<std::vector<RunToCompare>> RunInputs::Find(const std::vector<std::string>& inputs) {
  std::vector<Source> sources;
  for (const std::string& input : inputs) {
    TRACEDB_ASSIGN(source, Locate(input));
    sources.push_back(std::move(source));
  }
  std::vector<RunToCompare> runs;
  for (const Source& source : sources) {
    TRACEDB_ASSIGN(run, Choose(source));
    runs.push_back(std::move(run));
  }
  return runs;
}

}  // namespace tracedb
