#include "pages/page_io.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace tracedb {

Error PageError(const std::filesystem::path& name, const char* doing) {
  const bool full = errno == ENOSPC || errno == EDQUOT || errno == EFBIG;
  return Error{ErrorKind::kOutput,
               name.string() + ": cannot " + doing + ": " + std::strerror(errno),
               full ? "free some space on that disk, or put the database elsewhere with --db"
                    : "check the disk, and that the file and its folder may be written"};
}

Error Interrupted() { return Error{ErrorKind::kInput, "interrupted", "the database is as it was"}; }

Status ReadAt(int file, uint64_t offset, std::span<uint8_t> bytes,
              const std::filesystem::path& name) {
  while (!bytes.empty()) {
    const ssize_t got = pread(file, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got == 0) errno = EIO;
    if (got <= 0) return PageError(name, "read it");
    offset += static_cast<uint64_t>(got);
    bytes = bytes.subspan(static_cast<size_t>(got));
  }
  return Done{};
}

Status WriteAt(int file, uint64_t offset, std::span<const uint8_t> bytes,
               const std::filesystem::path& name) {
  while (!bytes.empty()) {
    const ssize_t wrote = pwrite(file, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote == 0) errno = ENOSPC;
    if (wrote <= 0) return PageError(name, "write to it");
    offset += static_cast<uint64_t>(wrote);
    bytes = bytes.subspan(static_cast<size_t>(wrote));
  }
  return Done{};
}

}  // namespace tracedb
