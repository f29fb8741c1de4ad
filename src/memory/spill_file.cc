#include "tracedb/memory/spill_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>

namespace tracedb {

SpillFile::~SpillFile() {
  if (fd_ >= 0) close(fd_);
}

Error SpillFile::Failed(const char* doing) const {
  return Error{
      ErrorKind::kOutput,
      folder_.string() + ": cannot " + doing + " a temporary file: " + std::strerror(errno),
      "check the disk's free space, or choose another place with --db"};
}

Status SpillFile::Open() {
  fd_ = open(folder_.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (fd_ >= 0) return Done{};
  // Not every file system has files without names: then the name goes at once.
  std::string name = (folder_ / "tracedb-spill-XXXXXX").string();
  fd_ = mkostemp(name.data(), O_CLOEXEC);
  if (fd_ < 0) return Failed("make");
  unlink(name.c_str());
  return Done{};
}

Result<uint64_t> SpillFile::Append(std::span<const uint8_t> bytes) {
  if (fd_ < 0) TRACEDB_TRY(Open());
  const uint64_t place = end_;
  while (!bytes.empty()) {
    const ssize_t count = pwrite(fd_, bytes.data(), bytes.size(), static_cast<off_t>(end_));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return Failed("write");
    bytes = bytes.subspan(static_cast<size_t>(count));
    end_ += static_cast<uint64_t>(count);
  }
  return place;
}

Status SpillFile::Read(uint64_t place, std::span<uint8_t> into) const {
  while (!into.empty()) {
    const ssize_t count = pread(fd_, into.data(), into.size(), static_cast<off_t>(place));
    if (count < 0 && errno == EINTR) continue;
    if (count == 0) errno = EIO;
    if (count <= 0) return Failed("read");
    into = into.subspan(static_cast<size_t>(count));
    place += static_cast<uint64_t>(count);
  }
  return Done{};
}

}  // namespace tracedb
