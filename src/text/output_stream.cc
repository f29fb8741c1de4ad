#include "tracedb/text/output_stream.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <system_error>
#include <utility>

namespace tracedb {
namespace {

constexpr size_t kGatheredBytesMax = 64u << 10;
constexpr int kTemporaryNamesMax = 100;

Error CannotWrite(std::string_view name, std::string_view doing, int code) {
  if (code == EPIPE) return Error{ErrorKind::kClosed, fmt::format("{}: closed", name), ""};
  std::string advice;
  if (code == ENOSPC || code == EDQUOT) advice = "free some space there, or write elsewhere";
  if (code == EACCES || code == EROFS || code == ENOENT || code == ENOTDIR) {
    advice = "check that the folder exists and may be written to";
  }
  return Error{ErrorKind::kOutput,
               fmt::format("{}: {}: {}", name, doing, std::generic_category().message(code)),
               std::move(advice)};
}

Status WriteAll(int descriptor, std::string_view bytes, std::string_view name) {
  while (!bytes.empty()) {
    const ssize_t written = write(descriptor, bytes.data(), bytes.size());
    if (written >= 0) {
      bytes.remove_prefix(static_cast<size_t>(written));
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      // Whoever shares the terminal or pipe with us has made it non-blocking.
      pollfd ready{descriptor, POLLOUT, 0};
      if (poll(&ready, 1, -1) < 0 && errno != EINTR)
        return CannotWrite(name, "cannot write", errno);
    } else if (errno != EINTR) {
      return CannotWrite(name, "cannot write", errno);
    }
  }
  return Done{};
}

}  // namespace

Status OutputStream::Write(std::string_view text) {
  gathered_ += text;
  return gathered_.size() < kGatheredBytesMax ? Status(Done{}) : Flush();
}

Status OutputStream::Flush() {
  if (gathered_.empty()) return Done{};
  Status written = WriteThrough(gathered_);
  gathered_.clear();
  return written;
}

Status DescriptorOutput::WriteThrough(std::string_view bytes) {
  return WriteAll(descriptor_, bytes, name_);
}

Status StringOutput::WriteThrough(std::string_view bytes) {
  text_ += bytes;
  return Done{};
}

Error FileOutput::Failed(std::string_view doing) const {
  return CannotWrite(shown_.string(), doing, errno);
}

Result<std::unique_ptr<FileOutput>> FileOutput::Create(const std::filesystem::path& path) {
  std::error_code code;
  // Where a link points to, also when nothing is there yet; the link itself must stay.
  std::filesystem::path target = std::filesystem::weakly_canonical(path, code);
  if (code) target = path;
  std::unique_ptr<FileOutput> output(new FileOutput(path, std::move(target)));
  struct stat old {};
  const bool exists = stat(path.c_str(), &old) == 0;
  if (exists && S_ISDIR(old.st_mode)) {
    errno = EISDIR;
    return output->Failed("cannot write");
  }
  if (exists && !S_ISREG(old.st_mode)) {
    output->descriptor_ = open(path.c_str(), O_WRONLY | O_CLOEXEC);
    if (output->descriptor_ < 0) return output->Failed("cannot write");
    return output;
  }
  if (exists && access(path.c_str(), W_OK) != 0) return output->Failed("cannot write");
  TRACEDB_TRY(output->OpenTemporary());
  if (exists && fchmod(output->descriptor_, old.st_mode & 07777) != 0) {
    return output->Failed("cannot keep its permissions");
  }
  return output;
}

Status FileOutput::OpenTemporary() {
  for (int i = 0; i < kTemporaryNamesMax; ++i) {
    std::filesystem::path name =
        target_.parent_path() /
        fmt::format(".{}.{}-{}.partial", target_.filename().string(), getpid(), i);
    descriptor_ = open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor_ >= 0) {
      temporary_ = std::move(name);
      return Done{};
    }
    if (errno != EEXIST) break;
  }
  return Failed("cannot make the file");
}

Status FileOutput::WriteThrough(std::string_view bytes) {
  return WriteAll(descriptor_, bytes, shown_.string());
}

Status FileOutput::Commit() {
  TRACEDB_TRY(Flush());
  // Some file systems tell only here that the bytes did not fit.
  if (!temporary_.empty() && fsync(descriptor_) != 0) return Failed("cannot write");
  if (close(std::exchange(descriptor_, -1)) != 0) return Failed("cannot write");
  if (temporary_.empty()) return Done{};
  if (std::rename(temporary_.c_str(), target_.c_str()) != 0)
    return Failed("cannot put it in place");
  temporary_.clear();
  return Done{};
}

FileOutput::~FileOutput() {
  if (descriptor_ >= 0) close(descriptor_);
  if (!temporary_.empty()) unlink(temporary_.c_str());
}

}  // namespace tracedb
