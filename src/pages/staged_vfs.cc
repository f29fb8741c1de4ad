#include "pages/staged_vfs.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <new>
#include <vector>

#include "pages/page_io.h"
#include "tracedb/pages/staged_changes.h"

namespace tracedb {

struct StagedFile {
  sqlite3_file base;
  StagedVfs* vfs;

  static StagedVfs& Of(sqlite3_file* file) { return *reinterpret_cast<StagedFile*>(file)->vfs; }
  static int Close(sqlite3_file*) { return SQLITE_OK; }
  static int Read(sqlite3_file* file, void* into, int bytes, sqlite3_int64 offset) {
    try {
      return Of(file).Read(into, bytes, offset);
    } catch (const std::bad_alloc&) {
      return SQLITE_IOERR_NOMEM;
    }
  }
  static int Write(sqlite3_file* file, const void* from, int bytes, sqlite3_int64 offset) {
    try {
      return Of(file).Write(from, bytes, offset);
    } catch (const std::bad_alloc&) {
      return SQLITE_IOERR_NOMEM;
    }
  }
  static int Truncate(sqlite3_file* file, sqlite3_int64 bytes) {
    Of(file).Truncate(bytes);
    return SQLITE_OK;
  }
  static int Sync(sqlite3_file*, int) { return SQLITE_OK; }
  static int FileSize(sqlite3_file* file, sqlite3_int64* bytes) {
    *bytes = Of(file).Size();
    return SQLITE_OK;
  }
  static int Lock(sqlite3_file*, int) { return SQLITE_OK; }
  // A journal that is there is that of the changes: not one to be played back.
  static int CheckReservedLock(sqlite3_file*, int* locked) {
    *locked = 1;
    return SQLITE_OK;
  }
  static int FileControl(sqlite3_file*, int, void*) { return SQLITE_NOTFOUND; }
  static int SectorSize(sqlite3_file*) { return 4096; }
  static int Characteristics(sqlite3_file*) { return 0; }
};

namespace {

const sqlite3_io_methods kMethods = {1,
                                     StagedFile::Close,
                                     StagedFile::Read,
                                     StagedFile::Write,
                                     StagedFile::Truncate,
                                     StagedFile::Sync,
                                     StagedFile::FileSize,
                                     StagedFile::Lock,
                                     StagedFile::Lock,
                                     StagedFile::CheckReservedLock,
                                     StagedFile::FileControl,
                                     StagedFile::SectorSize,
                                     StagedFile::Characteristics,
                                     nullptr,
                                     nullptr,
                                     nullptr,
                                     nullptr,
                                     nullptr,
                                     nullptr};

sqlite3_vfs* System() { return sqlite3_vfs_find(nullptr); }

}  // namespace

StagedVfs::StagedVfs(StagedChanges& staged, std::string database)
    : staged_(&staged), database_(std::move(database)) {
  static std::atomic<unsigned> count = 0;
  name_ = "tracedb-staged-" + std::to_string(++count);
  vfs_ = *System();
  vfs_.pNext = nullptr;
  vfs_.szOsFile = std::max<int>(System()->szOsFile, sizeof(StagedFile));
  vfs_.zName = name_.c_str();
  vfs_.pAppData = this;
  vfs_.xOpen = OpenFile;
  // Everything that is not the staged's goes to the system's VFS, with its own data.
  vfs_.xDelete = [](sqlite3_vfs*, const char* name, int sync) {
    return System()->xDelete(System(), name, sync);
  };
  vfs_.xAccess = [](sqlite3_vfs*, const char* name, int flags, int* found) {
    return System()->xAccess(System(), name, flags, found);
  };
  vfs_.xFullPathname = [](sqlite3_vfs*, const char* name, int bytes, char* full) {
    return System()->xFullPathname(System(), name, bytes, full);
  };
  vfs_.xRandomness = [](sqlite3_vfs*, int bytes, char* into) {
    return System()->xRandomness(System(), bytes, into);
  };
  vfs_.xSleep = [](sqlite3_vfs*, int us) { return System()->xSleep(System(), us); };
  sqlite3_vfs_register(&vfs_, 0);
}

StagedVfs::~StagedVfs() { sqlite3_vfs_unregister(&vfs_); }

std::string StagedVfs::FullName(const std::string& path) {
  sqlite3_initialize();
  std::vector<char> full(static_cast<size_t>(System()->mxPathname) + 1);
  System()->xFullPathname(System(), path.c_str(), static_cast<int>(full.size()), full.data());
  return full.data();
}

int StagedVfs::OpenFile(sqlite3_vfs* vfs, const char* name, sqlite3_file* file, int flags,
                        int* flags_out) {
  auto* const self = static_cast<StagedVfs*>(vfs->pAppData);
  if ((flags & SQLITE_OPEN_MAIN_DB) == 0 || name == nullptr || self->database_ != name) {
    return System()->xOpen(System(), name, file, flags, flags_out);
  }
  auto* const ours = reinterpret_cast<StagedFile*>(file);
  ours->base.pMethods = &kMethods;
  ours->vfs = self;
  if (flags_out != nullptr) *flags_out = flags;
  return SQLITE_OK;
}

int StagedVfs::Read(void* into, int bytes, sqlite3_int64 offset) {
  if (staged_ == nullptr) return SQLITE_IOERR_READ;
  const uint32_t page_bytes = staged_->sizes_.page_bytes;
  auto* to = static_cast<uint8_t*>(into);
  std::vector<uint8_t> page(page_bytes);
  auto left = static_cast<size_t>(bytes);
  for (auto at = static_cast<uint64_t>(offset); left > 0;) {
    const uint64_t number = at / page_bytes + 1;
    if (number > staged_->page_count_) {  // after the end
      std::memset(to, 0, left);
      return SQLITE_IOERR_SHORT_READ;
    }
    const size_t from = at % page_bytes;
    const size_t count = std::min<size_t>(left, page_bytes - from);
    if (!staged_->ReadPage(static_cast<uint32_t>(number), page).ok()) return SQLITE_IOERR_READ;
    std::memcpy(to, page.data() + from, count);
    to += count;
    at += count;
    left -= count;
  }
  return SQLITE_OK;
}

int StagedVfs::Write(const void* from, int bytes, sqlite3_int64 offset) {
  if (staged_ == nullptr) return SQLITE_IOERR_WRITE;
  const uint32_t page_bytes = staged_->sizes_.page_bytes;
  const auto at = static_cast<uint64_t>(offset);
  const bool whole = static_cast<uint32_t>(bytes) == page_bytes && at % page_bytes == 0;
  if (!whole) return SQLITE_IOERR_WRITE;  // SQLite writes a database page by page
  const auto number = static_cast<uint32_t>(at / page_bytes + 1);
  const Status written =
      staged_->WritePage(number, {static_cast<const uint8_t*>(from), page_bytes});
  return written.ok() ? SQLITE_OK : SQLITE_FULL;
}

sqlite3_int64 StagedVfs::Size() const {
  if (staged_ == nullptr) return 0;
  return static_cast<sqlite3_int64>(PlaceOf(staged_->page_count_ + 1, staged_->sizes_));
}

void StagedVfs::Truncate(sqlite3_int64 bytes) {
  if (staged_ == nullptr) return;
  staged_->page_count_ = static_cast<uint32_t>(bytes / staged_->sizes_.page_bytes);
}

}  // namespace tracedb
