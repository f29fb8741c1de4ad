#include "serve/database_pool.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include "tracedb/query/run/query_database.h"

namespace tracedb {
namespace {

constexpr size_t kIdleMax = 8;
// Who asks may come again; and the server ends within two seconds, whatever it waits for.
constexpr int kBusyWaitMs = 1'000;

// A file's identity; empty when there is none.
std::string FileOf(const std::filesystem::path& path) {
  struct stat seen {};
  if (stat(path.c_str(), &seen) != 0) return "";
  return fmt::format("{:x}-{:x}", seen.st_dev, seen.st_ino);
}

std::string SizeAndTime(const std::filesystem::path& path) {
  struct stat seen {};
  if (stat(path.c_str(), &seen) != 0) return "-";
  return fmt::format("{:x}-{:x}.{:x}", seen.st_size, seen.st_mtim.tv_sec, seen.st_mtim.tv_nsec);
}

}  // namespace

DatabasePool::Lease::~Lease() {
  if (db_ != nullptr) pool_->GiveBack(std::move(db_), std::move(file_));
}

Result<DatabasePool::Opened> DatabasePool::Open() const {
  // Before and after: the name may be given to another file in between.
  for (int i = 0; i < 10; ++i) {
    std::string file = FileOf(path_);
    TRACEDB_ASSIGN(db, OpenTraceDatabase(path_, kBusyWaitMs));
    if (FileOf(path_) != file) continue;
    if (on_open_) TRACEDB_TRY(on_open_(db));
    // The cache is small because there is one for every connection that is being answered. Views of
    // a database may be anybody's: they get no function that does more than compute.
    TRACEDB_TRY(
        db.Execute("PRAGMA cache_size = -1024; PRAGMA query_only = 1; PRAGMA trusted_schema = 0"));
    db.RestrictToReading();
    return Opened(std::move(db), std::move(file));
  }
  return Error{ErrorKind::kInput, "the database is replaced again and again", ""};
}

Result<DatabasePool::Lease> DatabasePool::Borrow() {
  const std::string file = FileOf(path_);
  {
    std::lock_guard lock(idle_mutex_);
    while (!idle_.empty()) {
      Opened opened = std::move(idle_.back());
      idle_.pop_back();
      if (opened.second == file) {
        return Lease(*this, std::move(opened.first), std::move(opened.second));
      }
    }
  }
  TRACEDB_ASSIGN(opened, Open());
  return Lease(*this, std::move(opened.first), std::move(opened.second));
}

void DatabasePool::GiveBack(std::unique_ptr<SqliteDb> db, std::string file) {
  db->StopIf({});
  std::lock_guard lock(idle_mutex_);
  if (idle_.size() < kIdleMax) idle_.emplace_back(std::move(*db), std::move(file));
}

bool DatabasePool::HasJournal() const {
  std::filesystem::path journal = path_;
  journal += "-journal";
  std::error_code code;
  return std::filesystem::exists(journal, code);
}

Result<std::string> DatabasePool::Version() {
  std::lock_guard lock(watch_mutex_);
  // The file is looked at first: what changes from here on is newer than the text.
  const std::string seen = SizeAndTime(path_);
  std::filesystem::path log = path_;
  log += "-wal";
  const std::string log_seen = SizeAndTime(log);
  if (!watch_.has_value() || watch_->second != FileOf(path_)) {
    watch_.reset();
    TRACEDB_ASSIGN(opened, Open());
    watch_ = std::move(opened);
  }
  // Times of files are coarse; SQLite's own count is not, but begins anew with each connection.
  TRACEDB_ASSIGN(count, watch_->first.Integer("PRAGMA data_version"));
  return fmt::format("{}/{}/{}/{}", watch_->second, seen, log_seen, count);
}

}  // namespace tracedb
