#include "ingest/database_landing.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <system_error>
#include <thread>
#include <utility>

#include "ingest/derive_tables.h"
#include "ingest/table_schema.h"
#include "tracedb/base/database_id.h"

namespace tracedb {
namespace {

namespace fs = std::filesystem;

constexpr int kBusyWaitMs = 60'000;

Error FileError(const fs::path& path, const char* doing, const char* advice) {
  return Error{ErrorKind::kOutput,
               path.string() + ": cannot " + doing + ": " + std::strerror(errno), advice};
}

constexpr const char* kFolderAdvice =
    "check that the folder exists and may be written, or choose another place with --db";

Status SyncFolder(const fs::path& file) {
  fs::path folder = file.parent_path();
  if (folder.empty()) folder = ".";
  const int fd = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return FileError(folder, "open", kFolderAdvice);
  const int code = fsync(fd);
  close(fd);
  // Some file systems cannot sync a folder; the rename stands all the same.
  if (code != 0 && errno != EINVAL) return FileError(folder, "sync", "");
  return Done{};
}

// One database has one lock, whatever the links that lead to it.
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

std::string Quoted(const std::string& text) {
  std::string quoted = "'";
  for (const char c : text) {
    if (c == '\'') quoted += c;
    quoted += c;
  }
  return quoted + "'";
}

// Tables whose rows belong to one trace; row ids were given so that they do not meet.
constexpr std::array<const char*, 7> kTextTables = {"label",   "track",  "shape", "trace",
                                                    "process", "thread", "issue"};
constexpr std::array<const char*, 2> kRowTables = {"step", "launch"};
constexpr std::array<const char*, 3> kRankTables = {"busy_segment", "device_use", "stream_use"};

}  // namespace

DatabaseLanding::DatabaseLanding(fs::path database, const LoadOptions& options)
    : database_(RealName(std::move(database))), partial_(database_), options_(&options) {
  partial_ += ".partial";
}

DatabaseLanding::DatabaseLanding(DatabaseLanding&& other) noexcept
    : database_(std::move(other.database_)),
      partial_(std::move(other.partial_)),
      options_(other.options_),
      place_(std::move(other.place_)),
      lock_(std::exchange(other.lock_, -1)),
      landed_(other.landed_) {}

DatabaseLanding::~DatabaseLanding() {
  if (lock_ < 0) return;
  if (!landed_) unlink(partial_.c_str());
  close(lock_);
}

Result<DatabaseLanding> DatabaseLanding::Begin(const fs::path& database,
                                               const LoadOptions& options) {
  DatabaseLanding landing(database, options);
  TRACEDB_TRY(landing.Lock());
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

Status DatabaseLanding::ReadPlace() {
  struct stat status;
  if (stat(database_.c_str(), &status) == 0) {
    place_.exists = status.st_size > 0;
  } else if (errno != ENOENT) {
    return FileError(database_, "look at it", kFolderAdvice);
  }
  if (!place_.exists) {  // the rules of a new database are those of its schema
    TRACEDB_ASSIGN(empty, SqliteDb::OpenInMemory());
    TRACEDB_TRY(empty.Execute(SchemaSql()));
    return ReadRules(empty);
  }
  TRACEDB_ASSIGN(db, SqliteDb::Open(database_, SqliteMode::kReadWrite));
  db.SetBusyTimeout(kBusyWaitMs, options_->stop);
  TRACEDB_ASSIGN(id, db.Integer("PRAGMA application_id"));
  if (id != kApplicationId) {
    return Error{ErrorKind::kOutput, database_.string() + ": not a database of tracedb",
                 "choose another file with --db; this one is left as it is"};
  }
  TRACEDB_ASSIGN(version, db.Integer("PRAGMA user_version"));
  if (version != kSchemaVersion) {
    return Error{ErrorKind::kOutput,
                 database_.string() + ": made by another version of tracedb (schema " +
                     std::to_string(version) + "; this one writes " +
                     std::to_string(kSchemaVersion) + ")",
                 "ingest into a new database with --db"};
  }
  TRACEDB_ASSIGN(last, db.Prepare("SELECT ifnull(max(trace_id), 0) + 1, ifnull(max(last_row), 0) "
                                  "+ 1, ifnull(max(last_text), 0) + 1 FROM trace"));
  TRACEDB_ASSIGN(any, last.Step());
  if (any) place_.first = {last.Int(0), last.Int(1), last.Int(2)};
  TRACEDB_ASSIGN(ranks, db.Prepare("SELECT DISTINCT rank FROM trace"));
  for (;;) {
    TRACEDB_ASSIGN(row, ranks.Step());
    if (!row) break;
    place_.ranks.insert(ranks.Int(0));
  }
  return ReadRules(db);
}

Status DatabaseLanding::ReadRules(SqliteDb& db) {
  TRACEDB_ASSIGN(rules, db.Prepare("SELECT pattern, kind FROM kind_rule"));
  for (;;) {
    TRACEDB_ASSIGN(row, rules.Step());
    if (!row) return Done{};
    place_.rules.push_back({std::string(rules.Text(0)), rules.Text(1) == "communication"});
  }
}

Result<std::optional<int64_t>> DatabaseLanding::FindTrace(const std::string& where) {
  if (!place_.exists) return std::optional<int64_t>();
  TRACEDB_ASSIGN(db, SqliteDb::Open(database_, SqliteMode::kReadOnly));
  db.SetBusyTimeout(kBusyWaitMs, options_->stop);
  TRACEDB_ASSIGN(rows, db.Prepare("SELECT trace_id FROM trace WHERE " + where));
  TRACEDB_ASSIGN(row, rows.Step());
  if (!row) return std::optional<int64_t>();
  return std::optional<int64_t>(rows.Int(0));
}

Result<std::optional<int64_t>> DatabaseLanding::FindSameFile(const std::string& file_hash,
                                                             uint64_t file_bytes) {
  return FindTrace("file_hash = " + Quoted(file_hash) +
                   " AND file_bytes = " + std::to_string(file_bytes));
}

Result<std::optional<int64_t>> DatabaseLanding::FindSameText(const std::string& text_hash) {
  return FindTrace("text_hash = " + Quoted(text_hash));
}

Result<bool> DatabaseLanding::AnyOfSize(uint64_t file_bytes) {
  TRACEDB_ASSIGN(found,
                 FindTrace("file_hash IS NOT NULL AND file_bytes = " + std::to_string(file_bytes)));
  return found.has_value();
}

Status DatabaseLanding::Land(int64_t rank, const std::string& path, const std::string& text_hash) {
  return place_.exists ? MergeIntoDatabase(rank, path, text_hash) : BecomeDatabase();
}

Status DatabaseLanding::BecomeDatabase() {
  if (fsync(lock_) != 0) return FileError(partial_, "sync", "check the disk's free space");
  // A journal that is left of a database that is gone would be rolled back into this one.
  struct stat status;
  const bool gone = lstat(database_.c_str(), &status) != 0 || status.st_size == 0;
  for (const char* ending : {"-journal", "-wal", "-shm"}) {
    if (gone) unlink((database_.string() + ending).c_str());
  }
  // Nobody else makes the database meanwhile, as we hold the lock; but some other program might
  // have put a file there.
  if (renameat2(AT_FDCWD, partial_.c_str(), AT_FDCWD, database_.c_str(), RENAME_NOREPLACE) != 0) {
    const int why = errno;
    const bool unknown = why == EINVAL || why == ENOSYS;  // file systems without the flag
    std::error_code error;
    const bool empty = fs::exists(database_, error) && fs::file_size(database_, error) == 0;
    errno = why;
    if ((!unknown && !empty) || rename(partial_.c_str(), database_.c_str()) != 0) {
      return FileError(database_, "put the finished database there", kFolderAdvice);
    }
  }
  landed_ = true;
  return SyncFolder(database_);
}

Status DatabaseLanding::TakeOut(SqliteDb& db, const std::string& path, const std::string& text_hash,
                                std::set<int64_t>& ranks) {
  struct Old {
    int64_t trace_id, rank, first_row, last_row, first_text, last_text;
  };
  std::vector<Old> olds;
  {
    TRACEDB_ASSIGN(rows, db.Prepare("SELECT trace_id, rank, first_row, last_row, first_text, "
                                    "last_text FROM main.trace WHERE text_hash = ?1 OR path = ?2"));
    TRACEDB_TRY(rows.Bind(1, std::string_view(text_hash)));
    TRACEDB_TRY(rows.Bind(2, std::string_view(path)));
    for (;;) {
      TRACEDB_ASSIGN(row, rows.Step());
      if (!row) break;
      olds.push_back(
          {rows.Int(0), rows.Int(1), rows.Int(2), rows.Int(3), rows.Int(4), rows.Int(5)});
    }
  }
  for (const Old& old : olds) {
    ranks.insert(old.rank);
    const std::string rows_of = " WHERE id BETWEEN " + std::to_string(old.first_row) + " AND " +
                                std::to_string(old.last_row);
    const std::string texts_of = " WHERE id BETWEEN " + std::to_string(old.first_text) + " AND " +
                                 std::to_string(old.last_text);
    for (int i = 0; i < kEventTables; ++i) {
      TRACEDB_TRY(db.Execute("DELETE FROM main." +
                             std::string(EventTableName(static_cast<EventTable>(i))) + rows_of));
    }
    for (const char* table : kRowTables) {
      TRACEDB_TRY(db.Execute("DELETE FROM main." + std::string(table) + rows_of));
    }
    for (const char* table : {"label", "track", "shape"}) {
      TRACEDB_TRY(db.Execute("DELETE FROM main." + std::string(table) + texts_of));
    }
    for (const char* table : {"trace", "process", "thread", "issue"}) {
      TRACEDB_TRY(db.Execute("DELETE FROM main." + std::string(table) +
                             " WHERE trace_id = " + std::to_string(old.trace_id)));
    }
  }
  return Done{};
}

Status DatabaseLanding::MergeIntoDatabase(int64_t rank, const std::string& path,
                                          const std::string& text_hash) {
  TRACEDB_ASSIGN(db, SqliteDb::Open(database_, SqliteMode::kReadWrite));
  db.SetBusyTimeout(kBusyWaitMs, options_->stop);
  if (options_->stop != nullptr) db.StopWhen(*options_->stop);
  TRACEDB_TRY(db.Execute("PRAGMA secure_delete = OFF; PRAGMA cache_size = -" +
                         std::to_string(options_->limits.sqlite_cache_kib)));
  TRACEDB_TRY(db.Execute("ATTACH " + Quoted(SqliteFileName(partial_)) + " AS fresh"));
  // BEGIN IMMEDIATE locks both files; with two journals COMMIT would need a third file over them.
  TRACEDB_TRY(db.Execute("PRAGMA fresh.journal_mode = OFF"));
  TRACEDB_TRY(db.Execute("BEGIN IMMEDIATE"));
  std::set<int64_t> changed;  // ranks whose derived rows cannot just be copied
  if (place_.ranks.contains(rank)) changed.insert(rank);
  if (options_->replace) TRACEDB_TRY(TakeOut(db, path, text_hash, changed));
  const auto copy = [&db](const std::string& table) {
    return db.Execute("INSERT INTO main." + table.substr(0, table.find(' ')) +
                      " SELECT * FROM fresh." + table);
  };
  for (int i = 0; i < kEventTables; ++i) {
    TRACEDB_TRY(copy(std::string(EventTableName(static_cast<EventTable>(i)))));
  }
  for (const char* table : kTextTables) TRACEDB_TRY(copy(table));
  for (const char* table : kRowTables) TRACEDB_TRY(copy(table));
  TRACEDB_TRY(options_->replace ? RemakeGroups(db) : MergeGroups(db));
  if (!changed.contains(rank)) {
    for (const char* table : kRankTables) TRACEDB_TRY(copy(table));
    // Its index is by group, which other ranks share: row by row (that is what a WHERE means to
    // SQLite), as copying index entries into the middle leaves pages almost empty.
    TRACEDB_TRY(copy("collective_part WHERE id > 0"));
  }
  for (const int64_t changed_rank : changed) {
    TRACEDB_TRY(DeriveBusy(db, changed_rank));
    TRACEDB_TRY(DeriveCollectives(db, changed_rank));
  }
  TRACEDB_TRY(db.Execute("COMMIT"));
  return db.Execute("DETACH fresh");
}

}  // namespace tracedb
