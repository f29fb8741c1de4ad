#include "tracedb/pages/staged_changes.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <chrono>
#include <string_view>
#include <thread>
#include <utility>

#include "pages/database_header.h"
#include "pages/page_copies.h"
#include "pages/page_io.h"
#include "pages/rollback_journal.h"
#include "pages/staged_vfs.h"
#include "tracedb/base/run_caught.h"
#include "tracedb/pages/page_bytes.h"

namespace tracedb {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kUnsafe = "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF";

bool Stopped(const std::atomic<bool>* stop) { return stop != nullptr && stop->load(); }

}  // namespace

StagedChanges::StagedChanges(Key, fs::path database, Wait wait, SqliteDb holder)
    : database_(std::move(database)), wait_(wait), holder_(std::move(holder)) {}

StagedChanges::~StagedChanges() {
  // What fails here is done again from the journal, by whoever opens the database next.
  if (!is_committed_) static_cast<void>(RunCaught([this] { return GoBack(); }).ok());
  copies_.reset();
  if (vfs_ != nullptr) vfs_->See(nullptr);
  vfs_.reset();
  holder_.reset();
  if (file_ >= 0) close(file_);
  if (changes_ >= 0) close(changes_);
}

Result<std::unique_ptr<StagedChanges>> StagedChanges::Begin(const fs::path& database, Wait wait) {
  // What a crash left behind is rolled back by this connection.
  TRACEDB_ASSIGN(holder, SqliteDb::Open(database, SqliteMode::kReadWrite));
  holder.SetBusyTimeout(wait.ms, wait.stop);
  TRACEDB_TRY(holder.Execute("BEGIN IMMEDIATE"));
  auto staged = std::make_unique<StagedChanges>(Key(), StagedVfs::FullName(database.string()), wait,
                                                std::move(holder));
  TRACEDB_TRY(staged->Open());
  TRACEDB_ASSIGN(fits, staged->ReadHeader());
  if (!fits) staged.reset();
  return staged;
}

Status StagedChanges::Open() {
  file_ = open(database_.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW);
  if (file_ < 0) return PageError(database_, "open it");
  const fs::path folder = database_.parent_path();
  changes_ = open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (changes_ >= 0) return Done{};
  // Not every file system has files without names: then the name goes at once.
  std::string name = database_.string() + "-staged-XXXXXX";
  changes_ = mkostemp(name.data(), O_CLOEXEC);
  if (changes_ < 0) return PageError(folder, "make a temporary file");
  unlink(name.c_str());
  return Done{};
}

Result<bool> StagedChanges::ReadHeader() {
  struct stat status;
  if (fstat(file_, &status) != 0) return PageError(database_, "look at it");
  std::array<uint8_t, kDatabaseHeaderBytes> header;
  if (static_cast<size_t>(status.st_size) < header.size()) return false;
  TRACEDB_TRY(ReadAt(file_, 0, header, database_));
  const uint32_t size = GetU16(&header[kPageSizeAt]);
  sizes_.page_bytes = size == 1 ? 65536 : size;
  sizes_.usable_bytes = sizes_.page_bytes - header[kReservedBytesAt];
  old_page_count_ = page_count_ = GetU32(&header[kPageCountAt]);
  return sizes_.page_bytes >= 512 && std::has_single_bit(sizes_.page_bytes) &&
         sizes_.usable_bytes >= kUsableBytesMin && sizes_.usable_bytes <= sizes_.page_bytes &&
         header[kWriteVersionAt] == 1 && header[kWriteVersionAt + 1] == 1 &&
         GetU32(&header[kLargestRootAt]) == 0 && GetU32(&header[kTextEncodingAt]) == 1 &&
         GetU32(&header[kChangeCounterAt]) == GetU32(&header[kVersionValidForAt]) &&
         PlaceOf(old_page_count_ + 1, sizes_) == static_cast<uint64_t>(status.st_size);
}

Result<StagedConnection> StagedConnection::Open(const fs::path& database) {
  StagedConnection made;
  made.vfs = std::make_shared<StagedVfs>(StagedVfs::FullName(database.string()));
  TRACEDB_ASSIGN(db, SqliteDb::Open(database, SqliteMode::kReadWrite, made.vfs->name()));
  made.db.emplace(std::move(db));
  made.db->KeepUntilClosed(made.vfs);
  return made;
}

Status StagedConnection::LeaveChanges() {
  return db->Execute("PRAGMA journal_mode = DELETE; PRAGMA synchronous = FULL");
}

Result<SqliteDb> StagedChanges::Connect() {
  if (vfs_ == nullptr) vfs_ = std::make_shared<StagedVfs>(database_.string());
  vfs_->See(this);
  TRACEDB_ASSIGN(db, SqliteDb::Open(database_, SqliteMode::kReadWrite, vfs_->name()));
  // What fails here is thrown away as a whole.
  TRACEDB_TRY(db.Execute(kUnsafe));
  return db;
}

Status StagedChanges::Connect(StagedConnection& kept) {
  if (!kept.db.has_value()) {
    TRACEDB_ASSIGN(opened, StagedConnection::Open(database_));
    kept = std::move(opened);
  }
  vfs_ = kept.vfs;
  vfs_->See(this);
  return kept.db->Execute(kUnsafe);
}

Status StagedChanges::ReadPage(uint32_t number, std::span<uint8_t> bytes) const {
  const uint64_t place = PlaceOf(number, sizes_);
  if (Changed(number)) return ReadAt(changes_, place, bytes, database_);
  if (number <= old_page_count_ || Added(number)) return ReadAt(file_, place, bytes, database_);
  if (copies_ != nullptr) {
    if (const auto origin = copies_->OriginOf(number); origin.has_value()) {
      return ReadAt(origin->source, PlaceOf(origin->from, sizes_), bytes, database_);
    }
  }
  std::ranges::fill(bytes, uint8_t{0});  // new, and not written
  return Done{};
}

Status StagedChanges::WritePage(uint32_t number, std::span<const uint8_t> bytes) {
  const auto note = [number](std::vector<bool>& pages) {
    if (number >= pages.size()) pages.resize(std::max<size_t>(number + 1, 2 * pages.size()));
    pages[number] = true;
  };
  // One that a thread copies to must not be written by two at a time.
  const bool is_copied = copies_ != nullptr && copies_->OriginOf(number).has_value();
  if (number > old_page_count_ && !is_copied) {
    TRACEDB_TRY(BeginJournal());
    TRACEDB_TRY(WriteAt(file_, PlaceOf(number, sizes_), bytes, database_));
    note(added_);
  } else {
    TRACEDB_TRY(WriteAt(changes_, PlaceOf(number, sizes_), bytes, database_));
    note(changed_);
  }
  page_count_ = std::max(page_count_, number);
  return Done{};
}

Result<uint32_t> StagedChanges::NewPage() {
  constexpr uint32_t kPageCountMax = 0xfffffffe;
  ++page_count_;
  if (page_count_ == kLockByte / sizes_.page_bytes + 1) ++page_count_;  // SQLite's locks lie there
  if (page_count_ < kPageCountMax) return page_count_;
  return Error{ErrorKind::kOutput, database_.string() + ": SQLite allows no more pages",
               "load into another database with --db"};
}

// After the database's end, where nobody looks until the header says so.
Status StagedChanges::CopyPages(int source, std::vector<Copy> copies, CheckPage check) {
  TRACEDB_TRY(BeginJournal());
  if (copies_ == nullptr) {
    copies_ = std::make_unique<PageCopies>(file_, database_, sizes_, wait_.stop);
  }
  copies_->Add(source, std::move(copies), check);
  return Done{};
}

// SQLite looks at the counter to know whether what it holds of pages is still so, and trusts the
// page count where the counter stands twice.
Status StagedChanges::CountPages() {
  std::vector<uint8_t> first(sizes_.page_bytes);
  TRACEDB_TRY(ReadPage(1, first));
  const uint32_t changes = GetU32(&first[kChangeCounterAt]) + 1;
  PutU32(&first[kChangeCounterAt], changes);
  PutU32(&first[kVersionValidForAt], changes);
  PutU32(&first[kPageCountAt], page_count_);
  return WritePage(1, first);
}

Status StagedChanges::BeginJournal() {
  if (journal_ != nullptr) return Done{};
  journal_ = std::make_unique<RollbackJournal>(database_, sizes_, old_page_count_);
  return journal_->Begin(file_);
}

// The order is what makes it safe: the journal is on the disk before anything it undoes is written,
// and what it undoes is on the disk before it goes.
Status StagedChanges::Commit() {
  TRACEDB_TRY(CountPages());
  const auto put_in_place = [this]() -> Status {
    TRACEDB_TRY(BeginJournal());
    TRACEDB_TRY(journal_->Add(ChangedOldPages(), file_));
    TRACEDB_TRY(WriteNewPages());
    TRACEDB_TRY(LockOutReaders());
    TRACEDB_TRY(WriteOldPages());
    return RemoveJournal();
  };
  const Status done = put_in_place();
  if (!done.ok()) TRACEDB_TRY(GoBack());
  TRACEDB_TRY(done);
  is_committed_ = true;
  // Gives the lock back: it has changed nothing by itself. Where that fails, closing does.
  static_cast<void>(holder_->Execute("ROLLBACK").ok());
  return Done{};
}

std::vector<uint32_t> StagedChanges::ChangedOldPages() const {
  std::vector<uint32_t> numbers;
  for (uint32_t number = 1; number <= old_page_count_; ++number) {
    if (Changed(number)) numbers.push_back(number);
  }
  return numbers;
}

// What was copied first: it may have changed since.
Status StagedChanges::WriteNewPages() {
  if (copies_ != nullptr) TRACEDB_TRY(copies_->Finish());
  std::vector<uint8_t> page(sizes_.page_bytes);
  for (uint32_t number = old_page_count_ + 1; number <= page_count_; ++number) {
    if (!Changed(number)) continue;
    TRACEDB_TRY(PutInPlace(number, page));
  }
  if (ftruncate(file_, static_cast<off_t>(PlaceOf(page_count_ + 1, sizes_))) != 0) {
    return PageError(database_, "lengthen it");
  }
  if (fsync(file_) != 0) return PageError(database_, "bring it to the disk");
  return Done{};
}

// `page` is room for it.
Status StagedChanges::PutInPlace(uint32_t number, std::span<uint8_t> page) const {
  const uint64_t place = PlaceOf(number, sizes_);
  TRACEDB_TRY(ReadAt(changes_, place, page, database_));
  return WriteAt(file_, place, page, database_);
}

// Its connection only has the lock that keeps writers away; SQLite would take this one by itself
// when it writes.
Status StagedChanges::LockOutReaders() {
  constexpr auto kBetween = std::chrono::milliseconds(10);
  sqlite3_file* file = nullptr;
  sqlite3_file_control(holder_->handle(), "main", SQLITE_FCNTL_FILE_POINTER, &file);
  const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(wait_.ms);
  for (;;) {
    if (Stopped(wait_.stop)) return Interrupted();
    const int code = file->pMethods->xLock(file, SQLITE_LOCK_EXCLUSIVE);
    if (code == SQLITE_OK) return Done{};
    if ((code & 0xff) != SQLITE_BUSY || std::chrono::steady_clock::now() > until) {
      return Error{ErrorKind::kOutput, database_.string() + ": database is locked",
                   "another process is reading it: try again when that has ended"};
    }
    std::this_thread::sleep_for(kBetween);
  }
}

Status StagedChanges::WriteOldPages() {
  old_pages_touched_ = true;
  std::vector<uint8_t> page(sizes_.page_bytes);
  for (const uint32_t number : ChangedOldPages()) TRACEDB_TRY(PutInPlace(number, page));
  if (fsync(file_) != 0) return PageError(database_, "bring it to the disk");
  return Done{};
}

Status StagedChanges::RemoveJournal() {
  // The changes are there now. If the disk does not know yet that the journal is gone, a power
  // failure may undo them as a whole.
  const Status removed = RunCaught([this] { return journal_->Remove(); });
  return journal_->exists() ? removed : Status(Done{});
}

// To the state before. Where old pages may have been written, by SQLite from the journal.
Status StagedChanges::GoBack() {
  copies_.reset();
  if (journal_ == nullptr || !journal_->exists()) return Done{};
  if (old_pages_touched_) {
    if (!holder_.has_value()) return Done{};  // it has been tried
    holder_.reset();                          // with it the lock: now the journal is one of a crash
    TRACEDB_ASSIGN(db, SqliteDb::Open(database_, SqliteMode::kReadWrite));
    db.SetBusyTimeout(wait_.ms);
    TRACEDB_ASSIGN(any, db.Integer("SELECT count(*) FROM sqlite_schema"));
    (void)any;
    return Done{};
  }
  // If this fails the journal stays, and does the same when the database is opened next.
  if (ftruncate(file_, static_cast<off_t>(PlaceOf(old_page_count_ + 1, sizes_))) == 0) {
    static_cast<void>(journal_->Remove().ok());
  }
  return Done{};
}

}  // namespace tracedb
