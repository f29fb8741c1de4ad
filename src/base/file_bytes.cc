#include "tracedb/base/file_bytes.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "tracedb/base/no_memory.h"

namespace tracedb {
namespace {

class OpenedFile {
 public:
  explicit OpenedFile(const std::filesystem::path& path, int flags = O_NONBLOCK)
      : file_(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | flags)) {
    if (file_ < 0) ThrowIfNoMemory({errno, std::generic_category()});
    struct stat status {};
    if (file_ < 0 || fstat(file_, &status) != 0 || !S_ISREG(status.st_mode)) return;
    bytes_ = status.st_size;
  }
  ~OpenedFile() {
    if (file_ >= 0) close(file_);
  }
  OpenedFile(const OpenedFile&) = delete;
  OpenedFile& operator=(const OpenedFile&) = delete;

  bool is_open() const { return file_ >= 0; }
  std::optional<int64_t> bytes() const { return bytes_; }

  // Of a pipe, which has no places, what comes next.
  std::optional<size_t> Read(int64_t at, std::span<char> bytes) const {
    size_t done = 0;
    while (done < bytes.size()) {
      char* const to = bytes.data() + done;
      const size_t left = bytes.size() - done;
      const ssize_t got =
          bytes_.has_value()
              ? pread(file_, to, left, static_cast<off_t>(at) + static_cast<off_t>(done))
              : read(file_, to, left);
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) return std::nullopt;
      if (got == 0) break;
      done += static_cast<size_t>(got);
    }
    return done;
  }

 private:
  int file_;
  std::optional<int64_t> bytes_;  // of a regular file
};

std::optional<std::string> ReadFrom(const OpenedFile& file, size_t bytes_max) {
  std::string text(bytes_max, '\0');
  const std::optional<size_t> got = file.Read(0, text);
  if (!got.has_value()) return std::nullopt;
  text.resize(*got);
  return text;
}

}  // namespace

std::optional<size_t> ReadFileAt(const std::filesystem::path& path, int64_t at,
                                 std::span<char> bytes) {
  const OpenedFile file(path);
  return file.bytes().has_value() ? file.Read(at, bytes) : std::nullopt;
}

std::optional<std::string> ReadFileStart(const std::filesystem::path& path, size_t bytes_max) {
  const OpenedFile file(path);
  if (!file.bytes().has_value()) return std::nullopt;
  return ReadFrom(file, std::min(bytes_max, static_cast<size_t>(*file.bytes())));
}

std::optional<std::string> ReadStream(const std::filesystem::path& path, size_t bytes_max) {
  const OpenedFile file(path, 0);
  return file.is_open() ? ReadFrom(file, bytes_max) : std::nullopt;
}

}  // namespace tracedb
