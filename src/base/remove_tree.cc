#include "tracedb/base/remove_tree.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>

namespace tracedb {
namespace {

constexpr int kDepthMax = 16;  // what we make is two deep
constexpr size_t kNamesBytes = 8192;

bool IsSelfOrParent(const char* name) {
  return std::strcmp(name, ".") == 0 || std::strcmp(name, "..") == 0;
}

void RemoveEntries(int folder, int depth) noexcept;

// True when it is gone.
bool RemoveEntry(int folder, const char* name, int depth) noexcept {
  if (unlinkat(folder, name, 0) == 0) return true;
  if (errno != EISDIR && errno != EPERM) return false;
  const int inner = openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (inner < 0) return false;
  RemoveEntries(inner, depth + 1);
  close(inner);
  return unlinkat(folder, name, AT_REMOVEDIR) == 0;
}

// opendir() would take its buffer from the heap. A folder that changes while it is listed may skip
// names: it is listed again until nothing more goes.
void RemoveEntries(int folder, int depth) noexcept {
  if (depth > kDepthMax) return;
  alignas(dirent64) std::array<char, kNamesBytes> names{};
  for (bool has_removed = true; has_removed;) {
    has_removed = false;
    if (lseek(folder, 0, SEEK_SET) != 0) return;
    for (;;) {
      const long bytes = syscall(SYS_getdents64, folder, names.data(), names.size());
      if (bytes <= 0) break;
      for (long at = 0; at < bytes;) {
        const auto* const entry = reinterpret_cast<const dirent64*>(names.data() + at);
        at += entry->d_reclen;
        if (IsSelfOrParent(entry->d_name)) continue;
        has_removed = RemoveEntry(folder, entry->d_name, depth) || has_removed;
      }
    }
  }
}

}  // namespace

void RemoveTree(const char* folder) noexcept { RemoveEntry(AT_FDCWD, folder, 0); }

}  // namespace tracedb
