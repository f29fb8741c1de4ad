#include "tracedb/pages/page_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <bit>
#include <cerrno>
#include <cstring>
#include <string>
#include <string_view>
#include <system_error>

#include "pages/database_header.h"
#include "pages/page_flush.h"
#include "tracedb/base/run_caught.h"
#include "tracedb/pages/page_bytes.h"

namespace tracedb {
namespace {

constexpr uint32_t kPageCountMax = 0xfffffffe;

}  // namespace

PageFile::PageFile(const std::filesystem::path& path, const PageFileOptions& options)
    : path_(path), options_(options) {}

PageFile::~PageFile() {
  flush_.reset();
  // Not an error that anybody could act upon: without Finish() the file is of no use anyway.
  if (file_ >= 0) close(file_);
}

Result<std::unique_ptr<PageFile>> PageFile::Open(const std::filesystem::path& path,
                                                 const PageFileOptions& options) {
  std::unique_ptr<PageFile> file(new PageFile(path, options));
  TRACEDB_TRY(file->OpenFile());
  return file;
}

Status PageFile::OpenFile() {
  do {
    file_ = open(path_.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW);
  } while (file_ < 0 && errno == EINTR);
  if (file_ < 0) return PageFileError(path_, "cannot open it for writing", errno);

  struct stat status = {};
  if (fstat(file_, &status) != 0) return PageFileError(path_, "cannot read its size", errno);
  if (!S_ISREG(status.st_mode)) return Refuse("not a regular file", "choose another file");
  const auto file_bytes = static_cast<uint64_t>(status.st_size);
  if (file_bytes < kDatabaseHeaderBytes) {
    return Refuse("too short for a SQLite database", "let SQLite create its tables first");
  }
  TRACEDB_TRY(ReadAt(0, header_));
  TRACEDB_TRY(CheckHeader(file_bytes));
  TRACEDB_TRY(CheckNoHotJournal());

  lock_page_ = static_cast<uint32_t>(kLockByte / sizes_.page_bytes) + 1;
  page_count_ = old_page_count_;
  buffer_ = PageFlush::MakeBuffer();
  const PageFlush::Options how{options_.start_writeback_early, options_.write_on_thread};
  flush_ = std::make_unique<PageFlush>(file_, path_, file_bytes, how);
  return Done{};
}

Status PageFile::CheckHeader(uint64_t file_bytes) {
  if (std::memcmp(header_.data(), kMagic.data(), kMagic.size()) != 0) {
    return Refuse("not a SQLite database", "choose another file");
  }
  const uint32_t page_size_field = GetU16(&header_[kPageSizeAt]);
  sizes_.page_bytes = page_size_field == 1 ? 65536 : page_size_field;
  sizes_.usable_bytes = sizes_.page_bytes - header_[kReservedBytesAt];
  if (sizes_.page_bytes < 512 || !std::has_single_bit(sizes_.page_bytes) ||
      sizes_.usable_bytes < kUsableBytesMin) {
    return Refuse("its header has an impossible page size", "the file is damaged: make it anew");
  }
  if (header_[kWriteVersionAt] != 1 || header_[kReadVersionAt] != 1) {
    return Refuse("in WAL mode, so pages cannot be added past SQLite",
                  "run PRAGMA journal_mode = DELETE on it first");
  }
  if (GetU32(&header_[kLargestRootAt]) != 0) {
    return Refuse("has auto_vacuum on, so pages cannot be added past SQLite",
                  "run PRAGMA auto_vacuum = NONE and VACUUM on it first");
  }
  if (GetU32(&header_[kTextEncodingAt]) > 1) {
    return Refuse("its texts are UTF-16, only UTF-8 can be written",
                  "create it with PRAGMA encoding = 'UTF-8'");
  }
  old_page_count_ = GetU32(&header_[kPageCountAt]);
  const uint64_t header_file_bytes = uint64_t{old_page_count_} * sizes_.page_bytes;
  const bool is_count_valid =
      GetU32(&header_[kChangeCounterAt]) == GetU32(&header_[kVersionValidForAt]);
  if (!is_count_valid || header_file_bytes != file_bytes) {
    return Refuse("is " + std::to_string(file_bytes) + " bytes long, its header says " +
                      std::to_string(header_file_bytes),
                  "the file is cut short or was not closed properly: make it anew");
  }
  return Done{};
}

// SQLite would roll the journal back at the next open, and with it pages written here.
Status PageFile::CheckNoHotJournal() const {
  const std::filesystem::path journal = path_.string() + "-journal";
  const int file = open(journal.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);  // it may be a pipe
  if (file < 0) {
    if (errno == ENOENT) return Done{};
    return PageFileError(journal, "cannot open it", errno);
  }
  // Journals that are kept after a commit are emptied, or begin with a zero.
  char first = 0;
  const ssize_t got = read(file, &first, 1);
  const int error_number = errno;
  close(file);
  if (got < 0) return PageFileError(journal, "cannot read it", error_number);
  if (got == 1 && first != 0) {
    return Refuse("has an unfinished transaction in " + journal.string(),
                  "open it with SQLite once, which rolls that back");
  }
  return Done{};
}

Error PageFile::Refuse(const std::string& why, const std::string& advice) const {
  return Error{ErrorKind::kOutput, path_.string() + ": " + why, advice};
}

uint32_t PageFile::NextPageNumber() const {
  const uint32_t next = page_count_ + 1;
  return next == lock_page_ ? next + 1 : next;
}

Result<PageFile::NewPage> PageFile::AddPage() {
  assert(file_ >= 0);
  if (failure_) return *failure_;
  const uint32_t number = NextPageNumber();
  if (number > kPageCountMax) {
    return Fail(Refuse("has " + std::to_string(page_count_) + " pages, SQLite allows no more",
                       "use a larger page size, or load less into one database"));
  }
  while (true) {
    if (buffered_bytes_ == PageFlush::kBufferBytes) TRACEDB_TRY(Flush());
    uint8_t* page = buffer_.get() + buffered_bytes_;
    buffered_bytes_ += sizes_.page_bytes;
    ++page_count_;
    if (page_count_ == number) return NewPage{number, {page, sizes_.page_bytes}};
    std::memset(page, 0, sizes_.page_bytes);  // the lock page
  }
}

Status PageFile::ReadOldStart(uint32_t number, std::span<uint8_t> bytes) const {
  assert(number >= 2 && bytes.size() <= sizes_.page_bytes);
  if (number > old_page_count_) {
    return Refuse("has no page " + std::to_string(number) + " to read", "");
  }
  return ReadAt(uint64_t{number - 1} * sizes_.page_bytes, bytes);
}

Status PageFile::WriteOldPage(uint32_t number, std::span<const uint8_t> bytes) {
  assert(file_ >= 0 && number >= 2 && number <= old_page_count_);
  assert(bytes.size() == sizes_.page_bytes);
  if (failure_) return *failure_;
  return WriteAt(uint64_t{number - 1} * sizes_.page_bytes, bytes);
}

Status PageFile::Finish() {
  assert(file_ >= 0);
  if (failure_) return *failure_;
  TRACEDB_TRY(Flush());
  if (Status written = flush_->Finish(); !written.ok()) return Fail(std::move(written).error());
  TRACEDB_TRY(FinishHeader());
  if (options_.sync_at_finish) TRACEDB_TRY(Sync());
  // Some file systems tell of a failed write only now. The descriptor is gone either way.
  const int closed = close(file_);
  file_ = -1;
  if (closed != 0 && errno != EINTR) return Fail("cannot close it", errno);
  return Done{};
}

Status PageFile::Sync() {
  int synced;
  do {
    synced = fsync(file_);
  } while (synced != 0 && errno == EINTR);
  if (synced != 0) return Fail("cannot bring it to the disk", errno);
  return Done{};
}

Status PageFile::FinishHeader() {
  // SQLite trusts the page count only when these two are equal.
  const uint32_t change_counter = GetU32(&header_[kChangeCounterAt]) + 1;
  PutU32(&header_[kChangeCounterAt], change_counter);
  PutU32(&header_[kVersionValidForAt], change_counter);
  PutU32(&header_[kPageCountAt], page_count_);
  return WriteAt(0, header_);
}

Status PageFile::Flush() {
  auto next = RunCaught([this] { return flush_->Write(std::move(buffer_), buffered_bytes_); });
  if (!next.ok()) return Fail(std::move(next).error());
  buffer_ = std::move(next).value();
  buffered_bytes_ = 0;
  return Done{};
}

Status PageFile::WriteAt(uint64_t offset, std::span<const uint8_t> bytes) {
  Status written = WriteWhole(file_, path_, offset, bytes);
  return written.ok() ? written : Fail(std::move(written).error());
}

Status PageFile::ReadAt(uint64_t offset, std::span<uint8_t> bytes) const {
  while (!bytes.empty()) {
    const ssize_t got = pread(file_, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return PageFileError(path_, "cannot read it", errno);
    if (got == 0) return Refuse("ends at byte " + std::to_string(offset), "make it anew");
    offset += static_cast<uint64_t>(got);
    bytes = bytes.subspan(static_cast<size_t>(got));
  }
  return Done{};
}

Error PageFile::Fail(const char* doing, int error_number) {
  return Fail(PageFileError(path_, doing, error_number));
}

Error PageFile::Fail(Error error) {
  failure_ = std::move(error);
  return *failure_;
}

}  // namespace tracedb
