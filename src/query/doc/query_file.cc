#include "tracedb/query/doc/query_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <system_error>

namespace tracedb {
namespace {

Error CannotRead(std::string_view name, int code) {
  return Error{ErrorKind::kInput,
               fmt::format("{}: cannot be read: {}", name, std::generic_category().message(code)),
               ""};
}

}  // namespace

Result<std::string> ReadQueryDescriptor(int descriptor, std::string_view name) {
  std::string text;
  std::array<char, 1 << 16> piece;
  while (true) {
    const ssize_t got = read(descriptor, piece.data(), piece.size());
    // The only signals that come here ask the program to end; it would wait for the next byte.
    if (got < 0 && errno == EINTR) return CannotRead(name, errno);
    if (got < 0) return CannotRead(name, errno);
    if (got == 0) return text;
    text.append(piece.data(), static_cast<size_t>(got));
    if (text.size() > kQueryBytesMax) {
      return Error{ErrorKind::kInput,
                   fmt::format("{}: over {} MB, too much for a query", name, kQueryBytesMax >> 20),
                   "give a file with SQL text; traces are read with: tracedb ingest FILE..."};
    }
  }
}

Result<std::string> ReadQueryFile(const std::filesystem::path& path) {
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return CannotRead(path.string(), errno);
  auto text = ReadQueryDescriptor(descriptor, path.string());
  close(descriptor);
  return text;
}

}  // namespace tracedb
