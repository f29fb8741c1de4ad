#include "ingest/load/database_landing.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <initializer_list>
#include <new>
#include <string_view>
#include <system_error>
#include <utility>

#include "ingest/load/database_check.h"
#include "ingest/load/database_merge.h"
#include "ingest/load/open_to_change.h"
#include "ingest/load/source_merge.h"
#include "tracedb/base/database_files.h"
#include "tracedb/base/folder_sync.h"
#include "tracedb/base/run_caught.h"
#include "tracedb/schema/database_id.h"
#include "tracedb/schema/empty_database.h"

namespace tracedb {
namespace {

namespace fs = std::filesystem;

// Whether it begins as what SQLite keeps under that ending does, or is empty.
bool IsOfSqlite(const fs::path& name, std::string_view ending) {
  std::array<unsigned char, 8> first{};
  const int file = open(name.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
  if (file < 0) return false;
  struct stat status {};
  const bool is_regular = fstat(file, &status) == 0 && S_ISREG(status.st_mode);
  const ssize_t got = is_regular ? pread(file, first.data(), first.size(), 0) : -1;
  close(file);
  if (got <= 0) return got == 0;
  const auto begins = [&](std::initializer_list<unsigned char> bytes) {
    return std::equal(bytes.begin(), bytes.end(), first.begin());
  };
  if (ending == "-wal") return begins({0x37, 0x7f, 0x06, 0x82}) || begins({0x37, 0x7f, 0x06, 0x83});
  if (ending == "-shm") return begins({0x18, 0xe2, 0x2d, 0x00});
  // That of a transaction that is done begins with zeros.
  return begins({0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7}) || begins({0});
}

// What SQLite has left of a database that is gone would become a part of a new one. What only has
// such a name is somebody's, and in the way.
Status LookAtCompanions(const fs::path& database, bool remove) {
  for (const std::string_view ending : kCompanionEndings) {
    const fs::path name = CompanionOf(database, ending);
    struct stat status {};
    if (lstat(name.c_str(), &status) != 0) continue;
    if (!IsOfSqlite(name, ending)) {
      return Error{ErrorKind::kOutput,
                   name.string() + ": SQLite would take this for a part of the new database",
                   "move it away, or choose another place with --db"};
    }
    if (remove && unlink(name.c_str()) != 0) return FileError(name, "remove", kFolderAdvice);
  }
  return Done{};
}

void AddParallelismRule(std::vector<ParallelismRule>& rules, std::string_view pattern,
                        std::string_view word) {
  const auto parallelism = ParallelismByName(word);
  if (parallelism.has_value()) rules.push_back({std::string(pattern), *parallelism});
}

}  // namespace

DatabaseLanding::DatabaseLanding(fs::path database, const LoadOptions& options, IngestLock lock,
                                 KeptConnection& kept)
    : database_(std::move(database)), options_(&options), kept_(&kept), lock_(std::move(lock)) {}

Result<DatabaseLanding> DatabaseLanding::Begin(const fs::path& database, const LoadOptions& options,
                                               KeptConnection& kept) {
  fs::path real = RealName(database);
  TRACEDB_ASSIGN(lock, IngestLock::Take(real, options));
  DatabaseLanding landing(std::move(real), options, std::move(lock), kept);
  RowsFile::RemoveLeft(landing.database_);
  TRACEDB_TRY(landing.ReadPlace());
  return landing;
}

Result<fs::path> DatabaseLanding::MakeRows() {
  TRACEDB_ASSIGN(rows, RowsFile::Make(database_));
  rows_.emplace(std::move(rows));
  return rows_->path();
}

// To the file that has the database's name now.
Status DatabaseLanding::Connect(const struct stat& status) {
  if (kept_->IsTo(status)) return Done{};
  TRACEDB_TRY(ConnectAnew());
  kept_->device = status.st_dev;
  kept_->inode = status.st_ino;
  return Done{};
}

// Whoever looks at the place goes on, where a connection was dropped.
Status DatabaseLanding::ConnectAnew() {
  kept_->connection.Drop();
  return OpenToChange(database_, *options_, kept_->connection);
}

Status DatabaseLanding::ReadPlace() {
  struct stat status;
  if (stat(database_.c_str(), &status) == 0) {
    if (!S_ISREG(status.st_mode)) {
      return Error{ErrorKind::kOutput, database_.string() + ": not a regular file",
                   "choose another place with --db"};
    }
    place_.exists = status.st_size > 0;
  } else if (errno != ENOENT) {
    return FileError(database_, "look at it", kFolderAdvice);
  }
  if (!place_.exists) {  // the rules of a new database are those of its schema
    kept_->connection.Drop();
    TRACEDB_TRY(LookAtCompanions(database_, false));
    for (const auto& rule : EmptyDatabase::kind_rules()) AddKindRule(rule.pattern, rule.word);
    std::vector<ParallelismRule> parallelism;
    for (const auto& rule : EmptyDatabase::parallelism_rules()) {
      AddParallelismRule(parallelism, rule.pattern, rule.word);
    }
    place_.parallelism_rules = ParallelismRules(std::move(parallelism));
    return Done{};
  }
  TRACEDB_TRY(Connect(status));
  SqliteDb& db = kept_->db();
  TRACEDB_ASSIGN(id, db.Integer("PRAGMA application_id"));
  if (id != kApplicationId) {
    return Error{ErrorKind::kOutput, database_.string() + ": not a database of tracedb",
                 "choose another file with --db; this one is left as it is"};
  }
  TRACEDB_ASSIGN(version, db.Integer("PRAGMA user_version"));
  if (version != kSchemaVersion) {
    const bool older = version < kSchemaVersion;
    return Error{ErrorKind::kOutput,
                 database_.string() + ": made by " +
                     (older ? "an older tracedb" : "a newer tracedb") + " (schema " +
                     std::to_string(version) + "; tracedb " TRACEDB_VERSION " writes " +
                     std::to_string(kSchemaVersion) + ")",
                 "ingest the traces again into a new database: name it with --db"};
  }
  TRACEDB_ASSIGN(gathered, db.Integer("SELECT EXISTS (SELECT 1 FROM main.sqlite_schema WHERE "
                                      "type = 'table' AND name = '_shard')"));
  place_.is_gathered = gathered != 0;
  TRACEDB_ASSIGN(free, CheckDatabase(db, options_->stop));
  place_.first = free;
  TRACEDB_ASSIGN(last_source, LastSource(db));
  place_.source_id = last_source + 1;
  return ReadRules(db);
}

Status DatabaseLanding::CheckTakesTraces() const {
  if (!place_.is_gathered) return Done{};
  return Error{ErrorKind::kOutput,
               database_.string() + ": gathered from summaries, to which no trace can be added",
               "ingest it with --shard and another --db, and gather again; logs and the like can "
               "be added here"};
}

// The tables' CHECKs let no other words in.
void DatabaseLanding::AddKindRule(std::string_view pattern, std::string_view word) {
  const auto kind = std::find(kGpuKindNames.begin(), kGpuKindNames.end(), word);
  if (kind == kGpuKindNames.end()) return;
  place_.rules.push_back(
      {std::string(pattern), static_cast<GpuKind>(kind - kGpuKindNames.begin())});
}

Status DatabaseLanding::ReadRules(SqliteDb& db) {
  TRACEDB_ASSIGN(rules, db.Prepare("SELECT pattern, kind FROM kind_rules"));
  for (;;) {
    TRACEDB_ASSIGN(row, rules.Step());
    if (!row) return ReadParallelismRules(db);
    AddKindRule(rules.Text(0), rules.Text(1));
  }
}

Status DatabaseLanding::ReadParallelismRules(SqliteDb& db) {
  TRACEDB_ASSIGN(rows, db.Prepare("SELECT pattern, parallelism FROM parallelism_rules"));
  std::vector<ParallelismRule> rules;
  for (;;) {
    TRACEDB_ASSIGN(row, rows.Step());
    if (!row) break;
    AddParallelismRule(rules, rows.Text(0), rows.Text(1));
  }
  place_.parallelism_rules = ParallelismRules(std::move(rules));
  return Done{};
}

Result<std::set<int64_t>> DatabaseLanding::RanksOf(const std::string& folder,
                                                   const std::optional<Interval>& at,
                                                   const std::string& path) {
  std::set<int64_t> ranks;
  if (!place_.exists) return ranks;
  TRACEDB_ASSIGN(rows,
                 kept_->db().Prepare("SELECT rank FROM _trace WHERE folder = ?1 AND (?2 IS NULL OR "
                                     "(start_ns <= ?3 AND end_ns >= ?2)) AND path IS NOT ?4"));
  TRACEDB_TRY(rows.Bind(1, std::string_view(folder)));
  if (at.has_value()) {
    TRACEDB_TRY(rows.Bind(2, at->start_ns));
    TRACEDB_TRY(rows.Bind(3, at->end_ns));
  }
  if (options_->replace) TRACEDB_TRY(rows.Bind(4, std::string_view(path)));
  for (;;) {
    TRACEDB_ASSIGN(row, rows.Step());
    if (!row) return ranks;
    ranks.insert(rows.Int(0));
  }
}

Result<std::optional<int64_t>> DatabaseLanding::FindInput(const char* table,
                                                          const std::string& where) {
  if (!place_.exists) return std::optional<int64_t>();
  TRACEDB_ASSIGN(rows, kept_->db().Prepare("SELECT " + std::string(table + 1) + "_id FROM " +
                                           table + " WHERE " + where));
  TRACEDB_ASSIGN(row, rows.Step());
  if (!row) return std::optional<int64_t>();
  return std::optional<int64_t>(rows.Int(0));
}

namespace {

std::string IsFile(const std::string& file_hash, uint64_t file_bytes) {
  return "file_hash = " + QuotedSql(file_hash) + " AND file_bytes = " + std::to_string(file_bytes);
}

std::string IsText(const std::string& text_hash) { return "text_hash = " + QuotedSql(text_hash); }

std::string IsHashedOfSize(uint64_t file_bytes) {
  return "file_hash IS NOT NULL AND file_bytes = " + std::to_string(file_bytes);
}

}  // namespace

Result<std::map<std::string, int64_t>> DatabaseLanding::TracesOfSize(uint64_t file_bytes) {
  std::map<std::string, int64_t> traces;
  TRACEDB_ASSIGN(rows, kept_->db().Prepare("SELECT file_hash, trace_id FROM _trace WHERE " +
                                           IsHashedOfSize(file_bytes) + " ORDER BY trace_id DESC"));
  for (;;) {
    TRACEDB_ASSIGN(row, rows.Step());
    if (!row) return traces;
    traces[std::string(rows.Text(0))] = rows.Int(1);  // the first of several with the same content
  }
}

Result<std::optional<int64_t>> DatabaseLanding::FindSameText(const std::string& text_hash) {
  return FindInput("_trace", IsText(text_hash));
}

Result<std::optional<int64_t>> DatabaseLanding::FindSameSourceFile(const std::string& file_hash,
                                                                   uint64_t file_bytes) {
  return FindInput("_source", IsFile(file_hash, file_bytes));
}

Result<std::optional<int64_t>> DatabaseLanding::FindSameSource(
    const std::string& text_hash, std::optional<int64_t> rank,
    const std::optional<std::string>& folder) {
  std::string where = IsText(text_hash) + " AND rank IS ";
  where += rank.has_value() ? std::to_string(*rank) : "NULL";
  if (folder.has_value()) where += " AND folder = " + QuotedSql(*folder);
  return FindInput("_source", where);
}

Result<bool> DatabaseLanding::IsSourceFile(int64_t source_id, const std::string& file_hash,
                                           uint64_t file_bytes) {
  TRACEDB_ASSIGN(found, FindInput("_source", IsFile(file_hash, file_bytes) +
                                                 " AND source_id = " + std::to_string(source_id)));
  return found.has_value();
}

Result<bool> DatabaseLanding::AnySourceOfSize(uint64_t file_bytes) {
  TRACEDB_ASSIGN(found, FindInput("_source", IsHashedOfSize(file_bytes)));
  return found.has_value();
}

Result<int64_t> DatabaseLanding::FindSourceOf(const std::string& folder,
                                              const std::string& file_name) {
  if (!place_.exists) return int64_t{0};
  TRACEDB_ASSIGN(rows,
                 kept_->db().Prepare("SELECT source_id, path FROM _source WHERE folder = ?1"));
  TRACEDB_TRY(rows.Bind(1, std::string_view(folder)));
  for (;;) {
    TRACEDB_ASSIGN(row, rows.Step());
    if (!row) return int64_t{0};
    if (fs::path(rows.Text(1)).filename() == file_name) return rows.Int(0);
  }
}

Status DatabaseLanding::Land(int64_t trace_id, const std::string& path,
                             const std::string& text_hash) {
  if (!place_.exists) return BecomeDatabase();
  return MergeTrace({database_, rows(), *options_, trace_id, path, text_hash}, kept_->connection);
}

MergeJob DatabaseLanding::JobOf(const TraceRows& trace) const {
  return {database_, trace.rows, *options_, trace.trace_id, trace.path, trace.text_hash};
}

bool DatabaseLanding::GoesAsPages(const TraceRows& trace) const {
  const auto goes = tracedb::GoesAsPages(JobOf(trace));
  return goes.ok() && goes.value();
}

Result<bool> DatabaseLanding::LandTogether(const std::vector<TraceRows>& traces) {
  std::vector<MergeJob> jobs;
  for (const TraceRows& trace : traces) jobs.push_back(JobOf(trace));
  Result<bool> merged = MergeTraces(jobs, kept_->connection);
  if (!kept_->connection.db.has_value()) TRACEDB_TRY(ConnectAnew());
  return merged;
}

Status DatabaseLanding::LandSource(int64_t source_id, const std::set<int64_t>& outdated) {
  if (!place_.exists) return BecomeDatabase();
  const MergeJob job{database_, rows(), *options_, source_id, {}, {}};
  Status merged = RunCaught([&] { return MergeSource(job, kept_->db(), outdated); });
  const bool is_free = merged.ok() && kept_->db().Execute("DETACH fresh").ok();
  if (!is_free) kept_->connection.Drop();  // with what it had begun, or still has
  return merged;
}

Status DatabaseLanding::BecomeDatabase() {
  if (fsync(rows_->descriptor()) != 0) {
    return FileError(rows(), "sync", "check the disk's free space");
  }
  struct stat status;
  const bool gone = lstat(database_.c_str(), &status) != 0 || status.st_size == 0;
  if (gone) TRACEDB_TRY(LookAtCompanions(database_, true));
  // Nobody else makes the database meanwhile, as we hold the lock; but some other program might
  // have put a file there.
  if (renameat2(AT_FDCWD, rows().c_str(), AT_FDCWD, database_.c_str(), RENAME_NOREPLACE) != 0) {
    const int why = errno;
    const bool unknown = why == EINVAL || why == ENOSYS;  // file systems without the flag
    std::error_code error;
    const bool empty = fs::exists(database_, error) && fs::file_size(database_, error) == 0;
    errno = why;
    if ((!unknown && !empty) || rename(rows().c_str(), database_.c_str()) != 0) {
      return FileError(database_, "put the finished database there", kFolderAdvice);
    }
  }
  rows_->Landed();
  try {
    return SyncFolderOf(database_);
  } catch (const std::bad_alloc&) {  // it is there all the same
    return Done{};
  }
}

}  // namespace tracedb
