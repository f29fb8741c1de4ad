#include "pages/staged_vfs.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstring>
#include <new>
#include <utility>
#include <vector>

#include "tracedb/pages/staged_changes.h"

namespace tracedb {

// In room of SQLite's, with the system's file after it.
struct StagedFile {
  sqlite3_file base;
  StagedVfs* vfs;

  static constexpr size_t kRealAt = 64;
  sqlite3_file* real() {
    return reinterpret_cast<sqlite3_file*>(reinterpret_cast<std::byte*>(this) + kRealAt);
  }
  static StagedFile& Of(sqlite3_file* file) { return *reinterpret_cast<StagedFile*>(file); }
  static StagedChanges* Staged(sqlite3_file* file) { return Of(file).vfs->staged_; }
  static sqlite3_file* Real(sqlite3_file* file) { return Of(file).real(); }

  static int Close(sqlite3_file* file) {
    Of(file).vfs->file_ = nullptr;
    return Real(file)->pMethods->xClose(Real(file));
  }
  static int Read(sqlite3_file* file, void* into, int bytes, sqlite3_int64 offset) {
    StagedChanges* const staged = Staged(file);
    if (staged == nullptr) {
      return Real(file)->pMethods->xRead(Real(file), into, bytes, offset);
    }
    try {
      return ReadStaged(*staged, into, bytes, offset);
    } catch (const std::bad_alloc&) {
      return SQLITE_IOERR_NOMEM;
    }
  }
  static int Write(sqlite3_file* file, const void* from, int bytes, sqlite3_int64 offset) {
    StagedChanges* const staged = Staged(file);
    if (staged == nullptr) {
      return Real(file)->pMethods->xWrite(Real(file), from, bytes, offset);
    }
    try {
      return WriteStaged(*staged, from, bytes, offset);
    } catch (const std::bad_alloc&) {
      return SQLITE_IOERR_NOMEM;
    }
  }
  static int Truncate(sqlite3_file* file, sqlite3_int64 bytes) {
    StagedChanges* const staged = Staged(file);
    if (staged == nullptr) return Real(file)->pMethods->xTruncate(Real(file), bytes);
    staged->page_count_ = static_cast<uint32_t>(bytes / staged->sizes_.page_bytes);
    return SQLITE_OK;
  }
  static int Sync(sqlite3_file* file, int flags) {
    if (Staged(file) != nullptr) return SQLITE_OK;
    return Real(file)->pMethods->xSync(Real(file), flags);
  }
  static int FileSize(sqlite3_file* file, sqlite3_int64* bytes) {
    StagedChanges* const staged = Staged(file);
    if (staged == nullptr) return Real(file)->pMethods->xFileSize(Real(file), bytes);
    *bytes = static_cast<sqlite3_int64>(staged->Place(staged->page_count_ + 1));
    return SQLITE_OK;
  }
  static int Lock(sqlite3_file* file, int level) {
    if (Staged(file) != nullptr) return SQLITE_OK;
    return Real(file)->pMethods->xLock(Real(file), level);
  }
  static int Unlock(sqlite3_file* file, int level) {
    if (Staged(file) != nullptr) return SQLITE_OK;
    return Real(file)->pMethods->xUnlock(Real(file), level);
  }
  static int CheckReservedLock(sqlite3_file* file, int* locked) {
    *locked = 0;
    if (Staged(file) != nullptr) return SQLITE_OK;
    return Real(file)->pMethods->xCheckReservedLock(Real(file), locked);
  }
  static int FileControl(sqlite3_file* file, int what, void* value) {
    if (Staged(file) != nullptr) return SQLITE_NOTFOUND;
    return Real(file)->pMethods->xFileControl(Real(file), what, value);
  }
  static int SectorSize(sqlite3_file* file) {
    return Real(file)->pMethods->xSectorSize(Real(file));
  }
  static int Characteristics(sqlite3_file* file) {
    return Real(file)->pMethods->xDeviceCharacteristics(Real(file));
  }
  // Of databases in WAL mode, to which nothing is staged.
  static int ShmMap(sqlite3_file* file, int page, int bytes, int extend, void volatile** at) {
    return Real(file)->pMethods->xShmMap(Real(file), page, bytes, extend, at);
  }
  static int ShmLock(sqlite3_file* file, int offset, int count, int flags) {
    return Real(file)->pMethods->xShmLock(Real(file), offset, count, flags);
  }
  static void ShmBarrier(sqlite3_file* file) { Real(file)->pMethods->xShmBarrier(Real(file)); }
  static int ShmUnmap(sqlite3_file* file, int remove) {
    return Real(file)->pMethods->xShmUnmap(Real(file), remove);
  }

 private:
  static int ReadStaged(StagedChanges& staged, void* into, int bytes, sqlite3_int64 offset) {
    const uint32_t page_bytes = staged.sizes_.page_bytes;
    auto* to = static_cast<uint8_t*>(into);
    std::vector<uint8_t> page;
    auto left = static_cast<size_t>(bytes);
    for (auto at = static_cast<uint64_t>(offset); left > 0;) {
      const uint64_t number = at / page_bytes + 1;
      if (number > staged.page_count_) {  // after the end
        std::memset(to, 0, left);
        return SQLITE_IOERR_SHORT_READ;
      }
      const size_t from = at % page_bytes;
      const size_t count = std::min<size_t>(left, page_bytes - from);
      const bool is_whole = count == page_bytes;
      if (!is_whole) page.resize(page_bytes);
      const std::span<uint8_t> read(is_whole ? to : page.data(), page_bytes);
      if (!staged.ReadPage(static_cast<uint32_t>(number), read).ok()) return SQLITE_IOERR_READ;
      if (!is_whole) std::memcpy(to, page.data() + from, count);
      to += count;
      at += count;
      left -= count;
    }
    return SQLITE_OK;
  }

  static int WriteStaged(StagedChanges& staged, const void* from, int bytes, sqlite3_int64 offset) {
    const uint32_t page_bytes = staged.sizes_.page_bytes;
    const auto at = static_cast<uint64_t>(offset);
    const bool whole = static_cast<uint32_t>(bytes) == page_bytes && at % page_bytes == 0;
    if (!whole) return SQLITE_IOERR_WRITE;  // SQLite writes a database page by page
    const auto number = static_cast<uint32_t>(at / page_bytes + 1);
    const Status written =
        staged.WritePage(number, {static_cast<const uint8_t*>(from), page_bytes});
    return written.ok() ? SQLITE_OK : SQLITE_FULL;
  }
};

static_assert(sizeof(StagedFile) <= StagedFile::kRealAt);

namespace {

const sqlite3_io_methods kMethods = {2,
                                     StagedFile::Close,
                                     StagedFile::Read,
                                     StagedFile::Write,
                                     StagedFile::Truncate,
                                     StagedFile::Sync,
                                     StagedFile::FileSize,
                                     StagedFile::Lock,
                                     StagedFile::Unlock,
                                     StagedFile::CheckReservedLock,
                                     StagedFile::FileControl,
                                     StagedFile::SectorSize,
                                     StagedFile::Characteristics,
                                     StagedFile::ShmMap,
                                     StagedFile::ShmLock,
                                     StagedFile::ShmBarrier,
                                     StagedFile::ShmUnmap,
                                     nullptr,
                                     nullptr};

// The journal of changes that are thrown away as a whole where one of them fails: it is never read.
struct NoJournal {
  static int Close(sqlite3_file*) { return SQLITE_OK; }
  static int Read(sqlite3_file*, void* into, int bytes, sqlite3_int64) {
    std::memset(into, 0, static_cast<size_t>(bytes));
    return SQLITE_IOERR_SHORT_READ;
  }
  static int Write(sqlite3_file*, const void*, int, sqlite3_int64) { return SQLITE_OK; }
  static int Truncate(sqlite3_file*, sqlite3_int64) { return SQLITE_OK; }
  static int Sync(sqlite3_file*, int) { return SQLITE_OK; }
  static int FileSize(sqlite3_file*, sqlite3_int64* bytes) {
    *bytes = 0;
    return SQLITE_OK;
  }
  static int Lock(sqlite3_file*, int) { return SQLITE_OK; }
  static int CheckReservedLock(sqlite3_file*, int* locked) {
    *locked = 0;
    return SQLITE_OK;
  }
  static int FileControl(sqlite3_file*, int, void*) { return SQLITE_NOTFOUND; }
  static int SectorSize(sqlite3_file*) { return 4096; }
  static int Characteristics(sqlite3_file*) { return 0; }
};

const sqlite3_io_methods kNoJournalMethods = {1,
                                              NoJournal::Close,
                                              NoJournal::Read,
                                              NoJournal::Write,
                                              NoJournal::Truncate,
                                              NoJournal::Sync,
                                              NoJournal::FileSize,
                                              NoJournal::Lock,
                                              NoJournal::Lock,
                                              NoJournal::CheckReservedLock,
                                              NoJournal::FileControl,
                                              NoJournal::SectorSize,
                                              NoJournal::Characteristics,
                                              nullptr,
                                              nullptr,
                                              nullptr,
                                              nullptr,
                                              nullptr,
                                              nullptr};

sqlite3_vfs* System() { return sqlite3_vfs_find(nullptr); }

}  // namespace

StagedVfs::StagedVfs(std::string database)
    : database_(std::move(database)), journal_(database_ + "-journal") {
  static std::atomic<unsigned> count = 0;
  name_ = "tracedb-staged-" + std::to_string(++count);
  vfs_ = *System();
  vfs_.pNext = nullptr;
  vfs_.szOsFile = static_cast<int>(StagedFile::kRealAt) + System()->szOsFile;
  vfs_.zName = name_.c_str();
  vfs_.pAppData = this;
  vfs_.xOpen = OpenFile;
  vfs_.xDelete = Delete;
  // Everything that is not the staged's goes to the system's VFS, with its own data.
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

sqlite3_file* StagedVfs::real_file() const { return file_ == nullptr ? nullptr : file_->real(); }

std::string StagedVfs::FullName(const std::string& path) {
  sqlite3_initialize();
  std::vector<char> full(static_cast<size_t>(System()->mxPathname) + 1);
  System()->xFullPathname(System(), path.c_str(), static_cast<int>(full.size()), full.data());
  return full.data();
}

bool StagedVfs::IsStagedJournal(const char* name) const {
  return staged_ != nullptr && name != nullptr && journal_ == name;
}

int StagedVfs::OpenFile(sqlite3_vfs* vfs, const char* name, sqlite3_file* file, int flags,
                        int* flags_out) {
  auto* const self = static_cast<StagedVfs*>(vfs->pAppData);
  if ((flags & SQLITE_OPEN_MAIN_JOURNAL) != 0 && self->IsStagedJournal(name)) {
    file->pMethods = &kNoJournalMethods;
    if (flags_out != nullptr) *flags_out = flags;
    return SQLITE_OK;
  }
  if ((flags & SQLITE_OPEN_MAIN_DB) == 0 || name == nullptr || self->database_ != name) {
    return System()->xOpen(System(), name, file, flags, flags_out);
  }
  auto* const ours = reinterpret_cast<StagedFile*>(file);
  ours->base.pMethods = nullptr;
  ours->vfs = self;
  const int code = System()->xOpen(System(), name, ours->real(), flags, flags_out);
  if (code != SQLITE_OK) return code;
  ours->base.pMethods = &kMethods;
  self->file_ = ours;
  return SQLITE_OK;
}

int StagedVfs::Delete(sqlite3_vfs* vfs, const char* name, int sync) {
  auto* const self = static_cast<StagedVfs*>(vfs->pAppData);
  if (self->IsStagedJournal(name)) return SQLITE_OK;
  return System()->xDelete(System(), name, sync);
}

}  // namespace tracedb
