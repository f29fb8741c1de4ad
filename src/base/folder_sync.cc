#include "tracedb/base/folder_sync.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace tracedb {
namespace {

Error Failed(const std::filesystem::path& folder, const char* doing) {
  return Error{ErrorKind::kOutput,
               folder.string() + ": cannot " + doing + ": " + std::strerror(errno),
               "check that the folder exists and may be written, or choose another place with "
               "--db"};
}

}  // namespace

Status SyncFolderOf(const std::filesystem::path& file) {
  std::filesystem::path folder = file.parent_path();
  if (folder.empty()) folder = ".";
  const int fd = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return Failed(folder, "open");
  const int code = fsync(fd);
  const int why = errno;
  close(fd);
  errno = why;
  // Some file systems cannot sync a folder; what was done to the names stands all the same.
  if (code != 0 && errno != EINVAL) return Failed(folder, "sync");
  return Done{};
}

}  // namespace tracedb
