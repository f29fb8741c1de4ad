#include "ingest/load/database_landing.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <system_error>
#include <thread>
#include <utility>

#include "ingest/load/database_check.h"
#include "ingest/load/database_merge.h"
#include "tracedb/base/folder_sync.h"
#include "tracedb/schema/database_id.h"
#include "tracedb/schema/schema_sql.h"

namespace tracedb {
namespace {

namespace fs = std::filesystem;

constexpr int kBusyWaitMs = 60'000;
constexpr const char* kAheadMark = ".partial-";

Error FileError(const fs::path& path, const char* doing, const char* advice) {
  return Error{ErrorKind::kOutput,
               path.string() + ": cannot " + doing + ": " + std::strerror(errno), advice};
}

constexpr const char* kFolderAdvice =
    "check that the folder exists and may be written, or choose another place with --db";

// What a killed ingest had read ahead: nobody has a lock on it any more.
void RemoveLeftAhead(const fs::path& database) {
  const std::string start = database.filename().string() + kAheadMark;
  std::error_code error;
  const fs::path folder = database.has_parent_path() ? database.parent_path() : fs::path(".");
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    if (!entry.path().filename().string().starts_with(start)) continue;
    const int file = open(entry.path().c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    if (file < 0) continue;
    if (flock(file, LOCK_EX | LOCK_NB) == 0) unlink(entry.path().c_str());
    close(file);
  }
}

}  // namespace

fs::path RealName(fs::path database) {
  constexpr int kLinksMax = 40;
  std::error_code error;
  for (int links = 0; links < kLinksMax && fs::is_symlink(database, error); ++links) {
    const fs::path target = fs::read_symlink(database, error);
    if (error) break;
    database = database.parent_path() / target;  // the target alone, where it is absolute
  }
  return database;
}

Result<AheadFile> MakeAheadFile(const fs::path& database) {
  static std::atomic<unsigned> count = 0;
  constexpr int kTries = 10;
  for (int tries = 0;; ++tries) {
    AheadFile made;
    made.path = RealName(database);
    made.path += kAheadMark + std::to_string(getpid()) + "-" + std::to_string(++count);
    made.lock = open(made.path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (made.lock < 0 && (errno != EEXIST || tries == kTries)) {
      return FileError(made.path, "create", kFolderAdvice);
    }
    if (made.lock < 0) continue;
    // One who takes away what was left behind may have come in between.
    const bool locked = flock(made.lock, LOCK_EX | LOCK_NB) == 0;
    if (locked && access(made.path.c_str(), F_OK) == 0) return made;
    const Error error = FileError(made.path, "lock", "try again");
    unlink(made.path.c_str());
    close(made.lock);
    if (tries == kTries) return error;
  }
}

DatabaseLanding::DatabaseLanding(fs::path database, const LoadOptions& options)
    : database_(RealName(std::move(database))), partial_(database_), options_(&options) {
  partial_ += ".partial";
}

DatabaseLanding::DatabaseLanding(DatabaseLanding&& other) noexcept
    : database_(std::move(other.database_)),
      partial_(std::move(other.partial_)),
      rows_(std::move(other.rows_)),
      options_(other.options_),
      place_(std::move(other.place_)),
      lock_(std::exchange(other.lock_, -1)),
      landed_(other.landed_) {}

DatabaseLanding::~DatabaseLanding() {
  if (lock_ < 0) return;
  if (!landed_ && !rows_.empty()) unlink(rows_.c_str());
  if (!landed_ || !rows_.empty()) unlink(partial_.c_str());
  close(lock_);
}

Result<DatabaseLanding> DatabaseLanding::Begin(const fs::path& database,
                                               const LoadOptions& options) {
  DatabaseLanding landing(database, options);
  TRACEDB_TRY(landing.Lock());
  RemoveLeftAhead(landing.database_);
  TRACEDB_TRY(landing.ReadPlace());
  return landing;
}

Status DatabaseLanding::Lock() {
  for (;;) {
    lock_ = open(partial_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    const bool made = lock_ >= 0;
    if (!made) lock_ = open(partial_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (lock_ < 0) return FileError(partial_, "create", kFolderAdvice);
    if (const Status locked = WaitForLock(); !locked.ok()) {
      const bool waited =
          options_->stop != nullptr && options_->stop->load();  // then it is another's
      if (made && !waited) unlink(partial_.c_str());
      return locked.error();
    }
    // Whoever had the lock may have renamed or removed the file meanwhile: then it is not ours.
    struct stat held;
    struct stat named;
    if (fstat(lock_, &held) == 0 && stat(partial_.c_str(), &named) == 0 &&
        held.st_ino == named.st_ino && held.st_dev == named.st_dev) {
      if (ftruncate(lock_, 0) != 0) return FileError(partial_, "empty", "");
      return Done{};
    }
    close(std::exchange(lock_, -1));
  }
}

// Asks again and again: a signal that comes just before a waiting call would be lost.
Status DatabaseLanding::WaitForLock() {
  constexpr auto kBetween = std::chrono::milliseconds(20);
  bool said = false;
  while (flock(lock_, LOCK_EX | LOCK_NB) != 0) {
    const bool stop = options_->stop != nullptr && options_->stop->load();
    if (stop || (errno != EWOULDBLOCK && errno != EINTR)) {
      if (stop) errno = EINTR;
      const Error error = FileError(partial_, "lock", "");
      close(std::exchange(lock_, -1));
      return error;
    }
    if (!said && options_->on_note) {
      options_->on_note("waiting for another ingest into " + database_.string());
    }
    said = true;
    std::this_thread::sleep_for(kBetween);
  }
  return Done{};
}

Result<SqliteDb> DatabaseLanding::Connect(SqliteMode mode) const {
  TRACEDB_ASSIGN(db, SqliteDb::Open(database_, mode));
  db.SetBusyTimeout(kBusyWaitMs, options_->stop);
  if (options_->stop != nullptr) db.StopWhen(*options_->stop);
  return db;
}

Status DatabaseLanding::ReadPlace() {
  struct stat status;
  if (stat(database_.c_str(), &status) == 0) {
    place_.exists = status.st_size > 0;
  } else if (errno != ENOENT) {
    return FileError(database_, "look at it", kFolderAdvice);
  }
  if (!place_.exists) {  // the rules of a new database are those of its schema
    TRACEDB_ASSIGN(empty, SqliteDb::OpenInMemory());
    TRACEDB_TRY(empty.Execute(TablesSql()));
    return ReadRules(empty);
  }
  TRACEDB_ASSIGN(db, Connect(SqliteMode::kReadWrite));
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
  TRACEDB_ASSIGN(free, CheckDatabase(db, options_->stop));
  place_.first = free.first;
  place_.first_path = free.first_path;
  return ReadRules(db);
}

Status DatabaseLanding::ReadRules(SqliteDb& db) {
  TRACEDB_ASSIGN(rules, db.Prepare("SELECT pattern, kind FROM kind_rules"));
  for (;;) {
    TRACEDB_ASSIGN(row, rules.Step());
    if (!row) return ReadParallelismRules(db);
    const auto kind = std::find(kGpuKindNames.begin(), kGpuKindNames.end(), rules.Text(1));
    if (kind == kGpuKindNames.end()) continue;  // the table's CHECK lets no other in
    place_.rules.push_back(
        {std::string(rules.Text(0)), static_cast<GpuKind>(kind - kGpuKindNames.begin())});
  }
}

Status DatabaseLanding::ReadParallelismRules(SqliteDb& db) {
  TRACEDB_ASSIGN(rows, db.Prepare("SELECT pattern, parallelism FROM parallelism_rules"));
  std::vector<ParallelismRule> rules;
  for (;;) {
    TRACEDB_ASSIGN(row, rows.Step());
    if (!row) break;
    const auto name = ParallelismByName(rows.Text(1));
    if (!name.has_value()) continue;  // the table's CHECK lets no other in
    rules.push_back({std::string(rows.Text(0)), *name});
  }
  place_.parallelism_rules = ParallelismRules(std::move(rules));
  return Done{};
}

Result<std::set<int64_t>> DatabaseLanding::RanksOf(const std::string& folder) {
  std::set<int64_t> ranks;
  if (!place_.exists) return ranks;
  TRACEDB_ASSIGN(db, Connect(SqliteMode::kReadOnly));
  TRACEDB_ASSIGN(rows, db.Prepare("SELECT rank FROM _trace WHERE folder = ?1"));
  TRACEDB_TRY(rows.Bind(1, std::string_view(folder)));
  for (;;) {
    TRACEDB_ASSIGN(row, rows.Step());
    if (!row) return ranks;
    ranks.insert(rows.Int(0));
  }
}

Result<std::optional<int64_t>> DatabaseLanding::FindTrace(const std::string& where) {
  if (!place_.exists) return std::optional<int64_t>();
  TRACEDB_ASSIGN(db, Connect(SqliteMode::kReadOnly));
  TRACEDB_ASSIGN(rows, db.Prepare("SELECT trace_id FROM _trace WHERE " + where));
  TRACEDB_ASSIGN(row, rows.Step());
  if (!row) return std::optional<int64_t>();
  return std::optional<int64_t>(rows.Int(0));
}

Result<std::optional<int64_t>> DatabaseLanding::FindSameFile(const std::string& file_hash,
                                                             uint64_t file_bytes) {
  return FindTrace("file_hash = " + QuotedSql(file_hash) +
                   " AND file_bytes = " + std::to_string(file_bytes));
}

Result<std::optional<int64_t>> DatabaseLanding::FindSameText(const std::string& text_hash) {
  return FindTrace("text_hash = " + QuotedSql(text_hash));
}

Result<bool> DatabaseLanding::AnyOfSize(uint64_t file_bytes) {
  TRACEDB_ASSIGN(found,
                 FindTrace("file_hash IS NOT NULL AND file_bytes = " + std::to_string(file_bytes)));
  return found.has_value();
}

Status DatabaseLanding::Land(int64_t trace_id, const std::string& path,
                             const std::string& text_hash) {
  if (!place_.exists) return BecomeDatabase();
  return MergeTrace({database_, rows(), *options_, kBusyWaitMs, trace_id, path, text_hash});
}

Status DatabaseLanding::SyncRows() const {
  const int file = rows_.empty() ? dup(lock_) : open(rows_.c_str(), O_RDONLY | O_CLOEXEC);
  const bool synced = file >= 0 && fsync(file) == 0;
  const int why = errno;
  if (file >= 0) close(file);
  errno = why;
  if (!synced) return FileError(rows(), "sync", "check the disk's free space");
  return Done{};
}

Status DatabaseLanding::BecomeDatabase() {
  TRACEDB_TRY(SyncRows());
  // A journal that is left of a database that is gone would be rolled back into this one.
  struct stat status;
  const bool gone = lstat(database_.c_str(), &status) != 0 || status.st_size == 0;
  for (const char* ending : {"-journal", "-wal", "-shm"}) {
    if (gone) unlink((database_.string() + ending).c_str());
  }
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
  landed_ = true;
  return SyncFolderOf(database_);
}

}  // namespace tracedb
