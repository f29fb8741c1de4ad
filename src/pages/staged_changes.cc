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
#include <cstring>
#include <random>
#include <thread>
#include <utility>

#include "pages/database_header.h"
#include "pages/staged_vfs.h"
#include "tracedb/base/cores.h"
#include "tracedb/base/descriptor.h"
#include "tracedb/base/folder_sync.h"
#include "tracedb/base/run_caught.h"
#include "tracedb/pages/page_bytes.h"

namespace tracedb {
namespace {

namespace fs = std::filesystem;

constexpr size_t kCopyBytes = size_t{1} << 20;  // of all threads; 8 times every page size
constexpr size_t kCopyThreadsMax = 8;

// A rollback journal, as SQLite's file format describes it.
constexpr std::array<uint8_t, 8> kJournalMagic = {0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7};
constexpr uint32_t kSectorBytes = 4096;  // its header takes one

uint32_t JournalChecksum(uint32_t nonce, std::span<const uint8_t> page) {
  uint32_t sum = nonce;
  for (size_t at = page.size() - 200; at > 0; at = at > 200 ? at - 200 : 0) sum += page[at];
  return sum;
}

bool Stopped(const std::atomic<bool>* stop) { return stop != nullptr && stop->load(); }

Error Interrupted() { return Error{ErrorKind::kInput, "interrupted", "the database is as it was"}; }

}  // namespace

StagedChanges::StagedChanges(Key, fs::path database, Wait wait, SqliteDb holder)
    : database_(std::move(database)),
      journal_(database_.string() + "-journal"),
      wait_(wait),
      holder_(std::move(holder)) {}

StagedChanges::~StagedChanges() {
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

Error StagedChanges::Failed(const fs::path& file, const char* doing) const {
  const bool full = errno == ENOSPC || errno == EDQUOT || errno == EFBIG;
  return Error{ErrorKind::kOutput,
               file.string() + ": cannot " + doing + ": " + std::strerror(errno),
               full ? "free some space on that disk, or put the database elsewhere with --db"
                    : "check the disk, and that the file and its folder may be written"};
}

Status StagedChanges::Open() {
  file_ = open(database_.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW);
  if (file_ < 0) return Failed(database_, "open it");
  const fs::path folder = database_.parent_path();
  changes_ = open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (changes_ >= 0) return Done{};
  // Not every file system has files without names: then the name goes at once.
  std::string name = database_.string() + "-staged-XXXXXX";
  changes_ = mkostemp(name.data(), O_CLOEXEC);
  if (changes_ < 0) return Failed(folder, "make a temporary file");
  unlink(name.c_str());
  return Done{};
}

Result<bool> StagedChanges::ReadHeader() {
  struct stat status;
  if (fstat(file_, &status) != 0) return Failed(database_, "look at it");
  std::array<uint8_t, kDatabaseHeaderBytes> header;
  if (static_cast<size_t>(status.st_size) < header.size()) return false;
  TRACEDB_TRY(ReadAll(file_, 0, header));
  const uint32_t size = GetU16(&header[kPageSizeAt]);
  sizes_.page_bytes = size == 1 ? 65536 : size;
  sizes_.usable_bytes = sizes_.page_bytes - header[kReservedBytesAt];
  old_page_count_ = page_count_ = GetU32(&header[kPageCountAt]);
  return sizes_.page_bytes >= 512 && std::has_single_bit(sizes_.page_bytes) &&
         sizes_.usable_bytes >= kUsableBytesMin && sizes_.usable_bytes <= sizes_.page_bytes &&
         header[kWriteVersionAt] == 1 && header[kWriteVersionAt + 1] == 1 &&
         GetU32(&header[kLargestRootAt]) == 0 && GetU32(&header[kTextEncodingAt]) == 1 &&
         GetU32(&header[kChangeCounterAt]) == GetU32(&header[kVersionValidForAt]) &&
         Place(old_page_count_ + 1) == static_cast<uint64_t>(status.st_size);
}

Result<SqliteDb> StagedChanges::Connect() {
  if (vfs_ == nullptr) vfs_ = std::make_shared<StagedVfs>(*this, database_.string());
  TRACEDB_ASSIGN(db, SqliteDb::Open(database_, SqliteMode::kReadWrite, vfs_->name()));
  // What fails here is thrown away as a whole.
  TRACEDB_TRY(db.Execute("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF"));
  return db;
}

Status StagedChanges::Connect(StagedConnection& kept) {
  if (!kept.db.has_value()) {
    TRACEDB_ASSIGN(db, Connect());
    kept.vfs = vfs_;
    kept.db.emplace(std::move(db));
  }
  vfs_ = kept.vfs;
  vfs_->See(this);
  return Done{};
}

Status StagedChanges::ReadPage(uint32_t number, std::span<uint8_t> bytes) const {
  if (Changed(number)) return ReadAll(changes_, Place(number), bytes);
  if (number <= old_page_count_) return ReadAll(file_, Place(number), bytes);
  std::ranges::fill(bytes, uint8_t{0});  // new, and not written
  return Done{};
}

Status StagedChanges::WritePage(uint32_t number, std::span<const uint8_t> bytes) {
  TRACEDB_TRY(WriteAll(changes_, Place(number), bytes, database_));
  if (number >= changed_.size()) changed_.resize(std::max<size_t>(number + 1, 2 * changed_.size()));
  changed_[number] = true;
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

void StagedChanges::CopyPages(int source, std::vector<Copy> copies, CheckPage check) {
  source_ = source;
  copies_ = std::move(copies);
  check_ = check;
}

// The order is what makes it safe: the journal is on the disk before anything it undoes is written,
// and what it undoes is on the disk before it goes.
Status StagedChanges::Commit() {
  std::vector<uint8_t> first(sizes_.page_bytes);
  TRACEDB_TRY(ReadPage(1, first));
  // A connection of ours has counted its change up; without one nothing says that much is new.
  PutU32(&first[kPageCountAt], page_count_);
  TRACEDB_TRY(WritePage(1, first));
  const auto put_in_place = [this]() -> Status {
    TRACEDB_TRY(WriteJournal());
    TRACEDB_TRY(WriteNewPages());
    TRACEDB_TRY(LockOutReaders());
    TRACEDB_TRY(WriteOldPages());
    return RemoveJournal();
  };
  const Status done = put_in_place();
  if (!done.ok()) TRACEDB_TRY(GoBack());
  TRACEDB_TRY(done);
  return holder_->Execute("ROLLBACK");  // gives the lock back: it has changed nothing by itself
}

Status StagedChanges::WriteJournal() {
  std::vector<uint32_t> numbers;
  for (uint32_t number = 1; number <= old_page_count_; ++number) {
    if (Changed(number)) numbers.push_back(number);
  }
  // Not through a link, as SQLite does not.
  constexpr int kFlags = O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW;
  const Descriptor opened(open(journal_.c_str(), kFlags, 0666));
  const int file = opened.number;
  if (file < 0) return Failed(journal_, "create it");
  journal_written_ = true;
  struct stat status;
  if (fstat(file_, &status) == 0 && fchmod(file, status.st_mode & 0777) != 0) {
    return Failed(journal_, "set its mode");  // whoever may open the database must roll it back
  }
  const uint32_t nonce = std::random_device{}();
  std::array<uint8_t, kSectorBytes> header{};
  std::copy(kJournalMagic.begin(), kJournalMagic.end(), header.begin());
  PutU32(&header[8], static_cast<uint32_t>(numbers.size()));
  PutU32(&header[12], nonce);
  PutU32(&header[16], old_page_count_);
  PutU32(&header[20], kSectorBytes);
  PutU32(&header[24], sizes_.page_bytes);
  TRACEDB_TRY(WriteAll(file, 0, header, journal_));
  std::vector<uint8_t> record(sizes_.page_bytes + 8);
  const std::span<uint8_t> page(record.data() + 4, sizes_.page_bytes);
  uint64_t at = kSectorBytes;
  for (const uint32_t number : numbers) {
    PutU32(record.data(), number);
    TRACEDB_TRY(ReadAll(file_, Place(number), page));
    PutU32(record.data() + 4 + sizes_.page_bytes, JournalChecksum(nonce, page));
    TRACEDB_TRY(WriteAll(file, at, record, journal_));
    at += record.size();
  }
  if (fsync(file) != 0) return Failed(journal_, "bring it to the disk");
  return SyncFolderOf(journal_);
}

// After the database's end, where nobody looks until the header says so.
Status StagedChanges::WriteNewPages() {
  std::vector<uint8_t> page(sizes_.page_bytes);
  for (uint32_t number = old_page_count_ + 1; number <= page_count_; ++number) {
    if (!Changed(number)) continue;
    TRACEDB_TRY(ReadAll(changes_, Place(number), page));
    TRACEDB_TRY(WriteAll(file_, Place(number), page, database_));
  }
  TRACEDB_TRY(WriteCopies());
  if (ftruncate(file_, static_cast<off_t>(Place(page_count_ + 1))) != 0) {
    return Failed(database_, "lengthen it");
  }
  if (fsync(file_) != 0) return Failed(database_, "bring it to the disk");
  return Done{};
}

// By several threads where there are many: each writes its own part of the file.
Status StagedChanges::WriteCopies() {
  const size_t each_min = kCopyBytes / sizes_.page_bytes;
  const size_t cores = CoresToUse();
  const size_t useful = std::max<size_t>(1, copies_.size() / each_min);
  const size_t parts = std::min(std::clamp<size_t>(cores / 4, 1, kCopyThreadsMax), useful);
  std::vector<std::vector<uint8_t>> buffers(parts, std::vector<uint8_t>(kCopyBytes / parts));
  std::vector<Status> done(parts, Done{});
  const auto copy = [&](size_t part) {
    const size_t first = copies_.size() * part / parts;
    const size_t end = copies_.size() * (part + 1) / parts;
    done[part] = RunCaught(
        [&] { return WriteCopies(std::span(copies_).subspan(first, end - first), buffers[part]); });
  };
  {
    std::vector<std::jthread> threads;
    for (size_t part = 1; part < parts; ++part) threads.emplace_back(copy, part);
    copy(0);
  }
  for (const Status& status : done) TRACEDB_TRY(status);
  return Done{};
}

// Runs of neighbours at once.
Status StagedChanges::WriteCopies(std::span<const Copy> copies, std::span<uint8_t> buffer) const {
  const size_t run_max = buffer.size() / sizes_.page_bytes;
  for (size_t first = 0; first < copies.size();) {
    if (Stopped(wait_.stop)) return Interrupted();
    const auto [from, to] = copies[first];
    size_t count = 1;
    while (count < run_max && first + count < copies.size() &&
           copies[first + count].from == from + count && copies[first + count].to == to + count) {
      ++count;
    }
    const auto run = buffer.first(count * sizes_.page_bytes);
    TRACEDB_TRY(ReadAll(source_, Place(from), run));
    for (size_t i = 0; i < count; ++i) {
      if (check_(run.subspan(i * sizes_.page_bytes, sizes_.page_bytes), sizes_)) continue;
      return Error{ErrorKind::kUnfit, "a row goes beyond its page", ""};
    }
    TRACEDB_TRY(WriteAll(file_, Place(to), run, database_));
    first += count;
  }
  return Done{};
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
  for (uint32_t number = 1; number <= old_page_count_; ++number) {
    if (!Changed(number)) continue;
    TRACEDB_TRY(ReadAll(changes_, Place(number), page));
    TRACEDB_TRY(WriteAll(file_, Place(number), page, database_));
  }
  if (fsync(file_) != 0) return Failed(database_, "bring it to the disk");
  return Done{};
}

Status StagedChanges::RemoveJournal() {
  if (unlink(journal_.c_str()) != 0) return Failed(journal_, "remove it");
  // The changes are there now. If the disk does not know yet that the journal is gone, a power
  // failure may undo them as a whole.
  static_cast<void>(SyncFolderOf(journal_).ok());
  return Done{};
}

// To the state before. Where old pages may have been written, by SQLite from the journal.
Status StagedChanges::GoBack() {
  if (!journal_written_) return Done{};
  if (old_pages_touched_) {
    holder_.reset();  // with it the lock: now the journal is one of a crash
    TRACEDB_ASSIGN(db, SqliteDb::Open(database_, SqliteMode::kReadWrite));
    db.SetBusyTimeout(wait_.ms);
    TRACEDB_ASSIGN(any, db.Integer("SELECT count(*) FROM sqlite_schema"));
    (void)any;
    return Done{};
  }
  // If this fails the journal stays, and does the same when the database is opened next.
  if (ftruncate(file_, static_cast<off_t>(Place(old_page_count_ + 1))) == 0) {
    unlink(journal_.c_str());
  }
  return Done{};
}

Status StagedChanges::WriteAll(int file, uint64_t offset, std::span<const uint8_t> bytes,
                               const fs::path& name) const {
  while (!bytes.empty()) {
    const ssize_t wrote = pwrite(file, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote == 0) errno = ENOSPC;
    if (wrote <= 0) return Failed(name, "write to it");
    offset += static_cast<uint64_t>(wrote);
    bytes = bytes.subspan(static_cast<size_t>(wrote));
  }
  return Done{};
}

Status StagedChanges::ReadAll(int file, uint64_t offset, std::span<uint8_t> bytes) const {
  while (!bytes.empty()) {
    const ssize_t got = pread(file, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got == 0) errno = EIO;
    if (got <= 0) return Failed(database_, "read it");
    offset += static_cast<uint64_t>(got);
    bytes = bytes.subspan(static_cast<size_t>(got));
  }
  return Done{};
}

}  // namespace tracedb
