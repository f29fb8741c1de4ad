#include "pages/rollback_journal.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <random>
#include <utility>
#include <vector>

#include "pages/page_io.h"
#include "tracedb/base/folder_sync.h"
#include "tracedb/pages/page_bytes.h"

namespace tracedb {
namespace {

// As SQLite's file format describes it.
constexpr std::array<uint8_t, 8> kMagic = {0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7};
constexpr size_t kRecordsAt = 8;
constexpr uint32_t kSectorBytes = 4096;  // its header takes one

uint32_t Checksum(uint32_t nonce, std::span<const uint8_t> page) {
  uint32_t sum = nonce;
  for (size_t at = page.size() - 200; at > 0; at = at > 200 ? at - 200 : 0) sum += page[at];
  return sum;
}

}  // namespace

RollbackJournal::RollbackJournal(std::filesystem::path database, PageSizes sizes,
                                 uint32_t page_count)
    : database_(std::move(database)),
      name_(database_.string() + "-journal"),
      sizes_(sizes),
      page_count_(page_count) {}

RollbackJournal::~RollbackJournal() {
  if (journal_ >= 0) close(journal_);
}

// With no page in it, it only says how long the database was.
Status RollbackJournal::Begin(int file) {
  // Not through a link, as SQLite does not.
  constexpr int kFlags = O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW;
  journal_ = open(name_.c_str(), kFlags, 0666);
  if (journal_ < 0) return PageError(name_, "create it");
  exists_ = true;
  struct stat status;
  if (fstat(file, &status) == 0 && fchmod(journal_, status.st_mode & 0777) != 0) {
    return PageError(name_, "set its mode");  // whoever may open the database must roll it back
  }
  nonce_ = std::random_device{}();
  std::array<uint8_t, kSectorBytes> header{};
  std::copy(kMagic.begin(), kMagic.end(), header.begin());
  PutU32(&header[12], nonce_);
  PutU32(&header[16], page_count_);
  PutU32(&header[20], kSectorBytes);
  PutU32(&header[24], sizes_.page_bytes);
  TRACEDB_TRY(WriteAt(journal_, 0, header, name_));
  if (fsync(journal_) != 0) return PageError(name_, "bring it to the disk");
  return SyncFolderOf(name_);
}

// No page of the database is written before all of this is on the disk, so it does not matter in
// which order it gets there.
Status RollbackJournal::Add(std::span<const uint32_t> pages, int file) {
  std::vector<uint8_t> record(sizes_.page_bytes + 8);
  const std::span<uint8_t> page(record.data() + 4, sizes_.page_bytes);
  uint64_t at = kSectorBytes;
  for (const uint32_t number : pages) {
    PutU32(record.data(), number);
    TRACEDB_TRY(ReadAt(file, PlaceOf(number, sizes_), page, database_));
    PutU32(record.data() + 4 + sizes_.page_bytes, Checksum(nonce_, page));
    TRACEDB_TRY(WriteAt(journal_, at, record, name_));
    at += record.size();
  }
  std::array<uint8_t, 4> records{};
  PutU32(records.data(), static_cast<uint32_t>(pages.size()));
  TRACEDB_TRY(WriteAt(journal_, kRecordsAt, records, name_));
  if (fsync(journal_) != 0) return PageError(name_, "bring it to the disk");
  return Done{};
}

Status RollbackJournal::Remove() {
  if (unlink(name_.c_str()) != 0) return PageError(name_, "remove it");
  exists_ = false;
  return SyncFolderOf(name_);
}

}  // namespace tracedb
