#include "pages/staged_vfs.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <new>
#include <vector>

#include "pages/page_io.h"
#include "tracedb/pages/staged_changes.h"

namespace tracedb {

// Its memory goes on with the system's file.
struct StagedFile {
  sqlite3_file base;
  StagedVfs* vfs;

  static StagedVfs& Of(sqlite3_file* file) { return *reinterpret_cast<StagedFile*>(file)->vfs; }
  // Whether there are changes to see.
  static bool Sees(sqlite3_file* file) { return Of(file).staged_ != nullptr; }
  static sqlite3_file* System(sqlite3_file* file) {
    return reinterpret_cast<sqlite3_file*>(reinterpret_cast<StagedFile*>(file) + 1);
  }
  static const sqlite3_io_methods& Methods(sqlite3_file* file) { return *System(file)->pMethods; }

  static int Close(sqlite3_file* file) { return Methods(file).xClose(System(file)); }
  static int Read(sqlite3_file* file, void* into, int bytes, sqlite3_int64 offset) {
    if (!Sees(file)) return Methods(file).xRead(System(file), into, bytes, offset);
    try {
      return Of(file).Read(into, bytes, offset);
    } catch (const std::bad_alloc&) {
      return SQLITE_IOERR_NOMEM;
    }
  }
  static int Write(sqlite3_file* file, const void* from, int bytes, sqlite3_int64 offset) {
    if (!Sees(file)) return Methods(file).xWrite(System(file), from, bytes, offset);
    try {
      return Of(file).Write(from, bytes, offset);
    } catch (const std::bad_alloc&) {
      return SQLITE_IOERR_NOMEM;
    }
  }
  static int Truncate(sqlite3_file* file, sqlite3_int64 bytes) {
    if (!Sees(file)) return Methods(file).xTruncate(System(file), bytes);
    Of(file).Truncate(bytes);
    return SQLITE_OK;
  }
  static int Sync(sqlite3_file* file, int flags) {
    return Sees(file) ? SQLITE_OK : Methods(file).xSync(System(file), flags);
  }
  static int FileSize(sqlite3_file* file, sqlite3_int64* bytes) {
    if (!Sees(file)) return Methods(file).xFileSize(System(file), bytes);
    *bytes = Of(file).Size();
    return SQLITE_OK;
  }
  static int Lock(sqlite3_file* file, int level) {
    return Sees(file) ? SQLITE_OK : Methods(file).xLock(System(file), level);
  }
  static int Unlock(sqlite3_file* file, int level) {
    return Sees(file) ? SQLITE_OK : Methods(file).xUnlock(System(file), level);
  }
  // A journal that is there is that of the changes: not one to be played back.
  static int CheckReservedLock(sqlite3_file* file, int* locked) {
    if (!Sees(file)) return Methods(file).xCheckReservedLock(System(file), locked);
    *locked = 1;
    return SQLITE_OK;
  }
  static int FileControl(sqlite3_file* file, int what, void* with) {
    return Sees(file) ? SQLITE_NOTFOUND : Methods(file).xFileControl(System(file), what, with);
  }
  static int SectorSize(sqlite3_file* file) { return Methods(file).xSectorSize(System(file)); }
  static int Characteristics(sqlite3_file* file) {
    return Methods(file).xDeviceCharacteristics(System(file));
  }
  // For a write-ahead log, which a database with changes on their way has not.
  static int ShmMap(sqlite3_file* file, int region, int bytes, int extend, void volatile** at) {
    const bool can = !Sees(file) && Methods(file).iVersion >= kShmVersion;
    return can ? Methods(file).xShmMap(System(file), region, bytes, extend, at)
               : SQLITE_IOERR_SHMMAP;
  }
  static int ShmLock(sqlite3_file* file, int offset, int count, int flags) {
    return Methods(file).xShmLock(System(file), offset, count, flags);
  }
  static void ShmBarrier(sqlite3_file* file) { Methods(file).xShmBarrier(System(file)); }
  static int ShmUnmap(sqlite3_file* file, int remove) {
    return Methods(file).iVersion >= kShmVersion ? Methods(file).xShmUnmap(System(file), remove)
                                                 : SQLITE_OK;
  }

  static constexpr int kShmVersion = 2;  // of methods that have those
};

namespace {

const sqlite3_io_methods kMethods = {StagedFile::kShmVersion,
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

sqlite3_vfs* System() { return sqlite3_vfs_find(nullptr); }

}  // namespace

StagedVfs::StagedVfs(std::string database) : database_(std::move(database)) {
  static std::atomic<unsigned> count = 0;
  name_ = "tracedb-staged-" + std::to_string(++count);
  vfs_ = *System();
  vfs_.pNext = nullptr;
  vfs_.szOsFile = System()->szOsFile + static_cast<int>(sizeof(StagedFile));
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
  sqlite3_file* const system = StagedFile::System(file);
  ours->base.pMethods = nullptr;
  system->pMethods = nullptr;
  const int code = System()->xOpen(System(), name, system, flags, flags_out);
  if (code == SQLITE_OK) {
    ours->base.pMethods = &kMethods;
    ours->vfs = self;
  } else if (system->pMethods != nullptr) {
    system->pMethods->xClose(system);
  }
  return code;
}

int StagedVfs::Read(void* into, int bytes, sqlite3_int64 offset) {
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
  return static_cast<sqlite3_int64>(PlaceOf(staged_->page_count_ + 1, staged_->sizes_));
}

void StagedVfs::Truncate(sqlite3_int64 bytes) {
  staged_->page_count_ = static_cast<uint32_t>(bytes / staged_->sizes_.page_bytes);
}

}  // namespace tracedb
