#include <fmt/format.h>

#include <functional>
#include <string_view>
#include <system_error>

#include "cli_commands.h"
#include "cli_progress.h"
#include "cli_temporary.h"
#include "tracedb/base/database_files.h"
#include "tracedb/doctor/doctor_checks.h"
#include "tracedb/doctor/doctor_json.h"
#include "tracedb/doctor/doctor_text.h"
#include "tracedb/ingest/load/trace_loads.h"
#include "tracedb/memory/load_limits.h"
#include "tracedb/query/doc/query_builtin.h"
#include "tracedb/query/run/query_database.h"
#include "tracedb/text/pager_output.h"

namespace tracedb {
namespace {

namespace fs = std::filesystem;

Result<bool> IsDatabase(const std::vector<std::string>& inputs) {
  for (const std::string& input : inputs) {
    if (!IsTraceDatabaseFile(input)) continue;
    if (inputs.size() == 1) return true;
    return Error{ErrorKind::kUsage, fmt::format("{}: a database is examined alone", input),
                 "name one database, or only traces"};
  }
  return false;
}

// In a smaller database the checks take less than opening it once more.
constexpr uintmax_t kBytesForTwo = uintmax_t{32} << 20;

Result<SqliteDb> Open(const fs::path& database, const std::atomic<bool>& stop) {
  TRACEDB_ASSIGN(db, OpenTraceDatabase(database));
  db.StopWhen(stop);
  return db;
}

Status Examine(const GlobalOptions& global, const fs::path& database, bool json,
               const std::atomic<bool>& stop) {
  TRACEDB_ASSIGN(db, Open(database, stop));
  TRACEDB_ASSIGN(catalog, QueryCatalog::Load(BuiltInQueries()));
  std::function<Result<SqliteDb>()> open_another;
  std::error_code code;
  const uintmax_t bytes = fs::file_size(database, code);
  if (!code && bytes >= kBytesForTwo) open_another = [&] { return Open(database, stop); };
  ProgressLine progress(global);
  const auto show = [&](const std::string& name, size_t number, size_t checks) {
    progress.Show(
        {name, fmt::format("check {} of {}", number, checks), number - 1, checks, 0, 0, "checks"});
  };
  TRACEDB_ASSIGN(report, RunChecks(db, catalog, open_another, show));
  progress.Hide();
  TRACEDB_TRY(WriteForPerson(global, [&](OutputStream& output) {
    return json ? WriteJsonReport(report, output)
                : WriteTextReport(report, ScreenColumns(), output);
  }));
  if (report.left_out > 0) {
    SayNote(global, fmt::format("{} checks look at single events, which are in the ranks' own "
                                "databases: tracedb doctor there makes them",
                                report.left_out));
  }
  if (report.Failed() > 0) {
    return Error{ErrorKind::kQuery,
                 fmt::format("{} of {} checks failed", report.Failed(), report.checks.size()), ""};
  }
  if (report.Findings() == 0) return Done{};
  return Error{ErrorKind::kFindings, fmt::format("{} findings", report.Findings()), ""};
}

Status ExamineTraces(const GlobalOptions& global, const DoctorOptions& options,
                     const std::atomic<bool>& stop) {
  PrepareToParse();
  TRACEDB_ASSIGN(folder, TemporaryFolder::Create("tracedb-doctor-"));
  GlobalOptions loading = global;
  loading.database = folder->path() / "trace.db";
  IngestOptions ingest;
  ingest.inputs = options.inputs;
  const OnLoaded nothing_to_say{[](const LoadSummary&) -> Status { return Done{}; },
                                [](const SourceSummary&) -> Status { return Done{}; }};
  TRACEDB_ASSIGN(loaded, LoadInputs(loading, ingest, stop, nothing_to_say));
  if (!loaded.any && loaded.failed.has_value()) return *loaded.failed;
  Status examined = Examine(global, loading.database, options.json, stop);
  // What could not be read is worse than what was found in the rest.
  const bool was_told = examined.ok() || examined.error().kind == ErrorKind::kFindings;
  if (was_told && loaded.failed.has_value()) return *loaded.failed;
  return examined;
}

}  // namespace

Status RunDoctor(const GlobalOptions& global, const DoctorOptions& options,
                 const std::atomic<bool>& stop) {
  if (options.inputs.empty()) return Examine(global, global.database, options.json, stop);
  TRACEDB_ASSIGN(is_database, IsDatabase(options.inputs));
  if (is_database) return Examine(global, options.inputs[0], options.json, stop);
  return ExamineTraces(global, options, stop);
}

}  // namespace tracedb
