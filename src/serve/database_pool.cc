#include "serve/database_pool.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <chrono>
#include <thread>

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
  if (opened_ != nullptr) pool_->GiveBack(std::move(*opened_));
}

// The watch is there before the first connection to its file.
std::shared_ptr<const WriterWatch> DatabasePool::WatchOf(const std::string& file) {
  const std::lock_guard lock(watch_mutex_);
  std::erase_if(watches_, [](const auto& watch) { return watch.second.expired(); });
  // The name may lead to a file again that some answer is still read from.
  auto watch = watches_[file].lock();
  if (watch == nullptr) watches_[file] = watch = WriterWatch::Open(path_);
  watch_ = watch;
  return watch;
}

bool DatabasePool::IsWriterWaiting() const {
  const std::lock_guard lock(watch_mutex_);
  return watch_ != nullptr && watch_->IsWriterWaiting();
}

Status DatabasePool::LetWriterIn(const std::function<bool()>& give_up) const {
  // Longer than answers go on beside a writer that waits (StopReasons).
  constexpr auto kWaitMax = std::chrono::seconds(8);
  constexpr auto kBetween = std::chrono::milliseconds(10);
  const auto until = std::chrono::steady_clock::now() + kWaitMax;
  while (IsWriterWaiting()) {
    if (give_up() || std::chrono::steady_clock::now() > until) {
      return Error{ErrorKind::kInput, "an ingest waits for the database", "ask again"};
    }
    std::this_thread::sleep_for(kBetween);
  }
  return Done{};
}

Result<DatabasePool::Opened> DatabasePool::Open() {
  // Before and after: the name may be given to another file in between.
  for (int i = 0; i < 10; ++i) {
    std::string file = FileOf(path_);
    auto watch = WatchOf(file);
    TRACEDB_ASSIGN(db, OpenTraceDatabase(path_, kBusyWaitMs));
    if (FileOf(path_) != file) continue;
    if (on_open_) TRACEDB_TRY(on_open_(db));
    // The cache is small because there is one for every connection that is being answered. Views of
    // a database may be anybody's: RestrictToReading() leaves them no function that does more than
    // compute. PRAGMA trusted_schema would refuse the JSON functions as well: SQLite before 3.41
    // takes those for unsafe by mistake, and our own views need them.
    TRACEDB_TRY(db.Execute("PRAGMA cache_size = -1024; PRAGMA query_only = 1"));
    db.RestrictToReading();
    return Opened{std::move(watch), std::move(db), std::move(file)};
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
      if (opened.file == file) return Lease(*this, std::move(opened));
    }
  }
  TRACEDB_ASSIGN(opened, Open());
  return Lease(*this, std::move(opened));
}

void DatabasePool::GiveBack(Opened opened) {
  opened.db.StopIf({});
  // What a function has kept, as the graph of a replay, goes with the answer that it was for.
  if (on_open_ && !on_open_(opened.db).ok()) return;
  std::lock_guard lock(idle_mutex_);
  if (idle_.size() < kIdleMax) idle_.push_back(std::move(opened));
}

Result<std::string> DatabasePool::Version() {
  std::lock_guard lock(version_mutex_);
  // The file is looked at first: what changes from here on is newer than the text.
  const std::string seen = SizeAndTime(path_);
  const std::string log_seen = SizeAndTime(CompanionOf(path_, "-wal"));
  if (!version_.has_value() || version_->file != FileOf(path_)) {
    version_.reset();
    TRACEDB_ASSIGN(opened, Open());
    version_.emplace(std::move(opened));
  }
  // Times of files are coarse; SQLite's own count is not, but begins anew with each connection.
  TRACEDB_ASSIGN(count, version_->db.Integer("PRAGMA data_version"));
  return fmt::format("{}/{}/{}/{}", version_->file, seen, log_seen, count);
}

}  // namespace tracedb
