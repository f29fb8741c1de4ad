#include "base/sqlite_open.h"

#include <fcntl.h>
#include <poll.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <mutex>
#include <string_view>

#include "base/sqlite_memory.h"

namespace tracedb {
namespace {

// Where SQLite has its random numbers from.
constexpr std::string_view kRandomDevice = "/dev/urandom";

constexpr int kLeaseTries = 50;
constexpr int kLeaseWaitMs = 100;

bool MayBeOpened(int file, std::string_view path) {
  struct stat seen {};
  if (fstat(file, &seen) != 0) return false;
  return S_ISREG(seen.st_mode) || S_ISDIR(seen.st_mode) || path == kRandomDevice;
}

// Named pipes wait for their other end when they are opened, and SQLite waits with them for ever,
// whatever signals come. A name may become a pipe at any moment, so only what was opened is judged.
int OpenFile(const char* path, int flags, int mode) {
  int file = open(path, flags | O_NONBLOCK | O_CLOEXEC, mode);
  // Somebody has a lease on the file, a file server for instance, and is asked to give it back.
  for (int tries = 0; file < 0 && errno == EWOULDBLOCK && tries < kLeaseTries; ++tries) {
    poll(nullptr, 0, kLeaseWaitMs);
    file = open(path, flags | O_NONBLOCK | O_CLOEXEC, mode);
  }
  if (file < 0 || MayBeOpened(file, path)) return file;
  close(file);
  errno = EINVAL;
  return -1;
}

}  // namespace

void LetSqliteOpenFilesOnly() {
  static std::once_flag once;
  std::call_once(once, [] {
    // Nobody asks how much memory SQLite has, and each piece of it would take one lock to count it:
    // two connections at work on two threads took a third longer than one after the other.
    sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
    WatchSqliteMemory();
    // A VFS that is not SQLite's own for Unix need not have this.
    sqlite3_vfs* const vfs = sqlite3_vfs_find("unix");
    if (vfs == nullptr || vfs->iVersion < 3 || vfs->xSetSystemCall == nullptr) return;
    vfs->xSetSystemCall(vfs, "open", reinterpret_cast<sqlite3_syscall_ptr>(OpenFile));
  });
}

}  // namespace tracedb
