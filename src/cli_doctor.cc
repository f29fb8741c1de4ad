#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <functional>
#include <string_view>
#include <system_error>

#include "cli_commands.h"
#include "tracedb/base/database_files.h"
#include "tracedb/doctor/doctor_checks.h"
#include "tracedb/doctor/doctor_json.h"
#include "tracedb/doctor/doctor_text.h"
#include "tracedb/memory/load_limits.h"
#include "tracedb/query/doc/query_builtin.h"
#include "tracedb/query/run/query_database.h"
#include "tracedb/text/output_stream.h"

namespace tracedb {
namespace {

namespace fs = std::filesystem;

// A folder that only this user may enter, and that goes with this object.
class TemporaryFolder {
 public:
  static Result<std::unique_ptr<TemporaryFolder>> Create() {
    const char* named = std::getenv("TMPDIR");
    const fs::path parent = named != nullptr && *named != '\0' ? named : "/tmp";
    std::string path = (parent / "tracedb-doctor-XXXXXX").string();
    if (mkdtemp(path.data()) == nullptr) {
      return Error{ErrorKind::kOutput,
                   fmt::format("{}: cannot make a temporary folder: {}", parent.string(),
                               std::generic_category().message(errno)),
                   "set TMPDIR to a folder with room for a seventh of the traces' JSON"};
    }
    return std::make_unique<TemporaryFolder>(path);
  }
  explicit TemporaryFolder(fs::path path) : path_(std::move(path)) {}
  ~TemporaryFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

Result<bool> IsDatabase(const std::vector<std::string>& inputs) {
  for (const std::string& input : inputs) {
    if (!IsSqliteFile(input)) continue;
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

Status Examine(const fs::path& database, bool json, const std::atomic<bool>& stop) {
  TRACEDB_ASSIGN(db, Open(database, stop));
  TRACEDB_ASSIGN(catalog, QueryCatalog::Load(BuiltInQueries()));
  std::function<Result<SqliteDb>()> open_another;
  std::error_code code;
  const uintmax_t bytes = fs::file_size(database, code);
  if (!code && bytes >= kBytesForTwo) open_another = [&] { return Open(database, stop); };
  TRACEDB_ASSIGN(report, RunChecks(db, catalog, open_another));
  DescriptorOutput output(STDOUT_FILENO, "standard output");
  TRACEDB_TRY(json ? WriteJsonReport(report, output) : WriteTextReport(report, output));
  TRACEDB_TRY(output.Flush());
  if (report.Failed() > 0) {
    return Error{ErrorKind::kQuery,
                 fmt::format("{} of {} checks failed", report.Failed(), report.checks.size()), ""};
  }
  if (report.Findings() == 0) return Done{};
  return Error{ErrorKind::kFindings, fmt::format("{} findings", report.Findings()), ""};
}

Status ExamineTraces(const GlobalOptions& global, const DoctorOptions& options,
                     const std::atomic<bool>& stop) {
  TRACEDB_ASSIGN(folder, TemporaryFolder::Create());
  GlobalOptions loading = global;
  loading.database = folder->path() / "trace.db";
  IngestOptions ingest;
  ingest.inputs = options.inputs;
  const auto nothing_to_say = [](const LoadSummary&) -> Status { return Done{}; };
  TRACEDB_ASSIGN(loaded, LoadInputs(loading, ingest, stop, nothing_to_say));
  if (!loaded.any && loaded.failed.has_value()) return *loaded.failed;
  Status examined = Examine(loading.database, options.json, stop);
  // What could not be read is worse than what was found in the rest.
  const bool was_told = examined.ok() || examined.error().kind == ErrorKind::kFindings;
  if (was_told && loaded.failed.has_value()) return *loaded.failed;
  return examined;
}

}  // namespace

Status RunDoctor(const GlobalOptions& global, const DoctorOptions& options,
                 const std::atomic<bool>& stop) {
  if (options.inputs.empty()) return Examine(global.database, options.json, stop);
  TRACEDB_ASSIGN(is_database, IsDatabase(options.inputs));
  if (is_database) return Examine(options.inputs[0], options.json, stop);
  return ExamineTraces(global, options, stop);
}

}  // namespace tracedb
