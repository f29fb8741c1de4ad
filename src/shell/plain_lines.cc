#include "shell/plain_lines.h"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <system_error>

#include "tracedb/text/output_stream.h"

namespace tracedb {

Result<TypedLine> PlainLines::Read(const std::string& prompt) {
  if (shows_prompt_) TRACEDB_TRY(WriteAll(STDOUT_FILENO, prompt, "standard output"));
  for (size_t looked = 0;;) {
    const size_t end = read_.find('\n', looked);
    if (end != std::string::npos || (at_end_ && !read_.empty())) {
      TypedLine line{TypedLine::What::kLine, read_.substr(0, end)};
      read_.erase(0, end == std::string::npos ? end : end + 1);
      return line;
    }
    if (at_end_) return TypedLine{TypedLine::What::kEnd, {}};
    looked = read_.size();
    if (looked > kLineBytesMax) {
      return Error{ErrorKind::kInput,
                   fmt::format("standard input: a line of over {} bytes", kLineBytesMax),
                   "SQL may go over several lines"};
    }
    std::array<char, 1 << 16> bytes{};
    const ssize_t count = read(descriptor_, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) {
      read_.clear();
      return TypedLine{TypedLine::What::kInterrupted, {}};
    }
    if (count < 0) {
      return Error{ErrorKind::kInput, "standard input: " + std::generic_category().message(errno),
                   ""};
    }
    at_end_ = count == 0;
    read_.append(bytes.data(), static_cast<size_t>(count));
  }
}

std::unique_ptr<LineReader> ReadPlainLines(int descriptor) {
  return std::make_unique<PlainLines>(descriptor, false);
}

#ifndef TRACEDB_WITH_LIBEDIT
std::unique_ptr<LineReader> ReadTypedLines(Completer, std::function<bool()>) {
  return std::make_unique<PlainLines>(STDIN_FILENO, true);
}
#endif

}  // namespace tracedb
