#include "tracedb/text/output_stream.h"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

namespace tracedb {
namespace {

constexpr size_t kGatheredBytesMax = 64u << 10;

}  // namespace

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

}  // namespace tracedb
