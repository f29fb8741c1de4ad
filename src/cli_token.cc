// The token of serve-csv, from where its user keeps it. A command line is shown by `ps` to all
// users of the machine; files and the environment are not.

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <system_error>

#include "cli_commands.h"

namespace tracedb {
namespace {

constexpr size_t kTokenBytesMax = 1024;

class OpenToken {
 public:
  // Without waiting for somebody to write to a pipe that nobody has open.
  explicit OpenToken(const std::string& path)
      : file_(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {}
  ~OpenToken() {
    if (file_ >= 0) close(file_);
  }
  OpenToken(const OpenToken&) = delete;
  OpenToken& operator=(const OpenToken&) = delete;
  int file() const { return file_; }

 private:
  int file_;
};

Error CannotRead(const std::string& path) {
  return Error{ErrorKind::kInput,
               fmt::format("--token-file {}: cannot be read: {}", path,
                           std::generic_category().message(errno)),
               ""};
}

Result<std::string> ReadTokenFile(const GlobalOptions& global, const std::string& path) {
  const OpenToken open(path);
  struct stat seen {};
  if (open.file() < 0 || fstat(open.file(), &seen) != 0) return CannotRead(path);
  if (S_ISREG(seen.st_mode) && (seen.st_mode & (S_IRWXG | S_IRWXO)) != 0) {
    SayNote(global,
            fmt::format("{}: other users may get at the token; chmod 600 keeps them out", path));
  }
  // From here on a pipe, as a shell's <(COMMAND) is one, is waited for; a signal ends that.
  if (fcntl(open.file(), F_SETFL, 0) != 0) return CannotRead(path);
  std::string token;
  std::array<char, kTokenBytesMax> piece{};
  while (token.size() <= kTokenBytesMax) {
    const ssize_t got = read(open.file(), piece.data(), piece.size());
    if (got < 0) return CannotRead(path);
    if (got == 0) break;
    token.append(piece.data(), static_cast<size_t>(got));
  }
  if (token.ends_with('\n')) token.pop_back();
  if (token.ends_with('\r')) token.pop_back();
  return token;
}

Status CheckToken(std::string_view token, std::string_view from) {
  const auto is_control = [](char c) { return (c >= '\0' && c < ' ') || c == '\x7f'; };
  if (token.empty()) {
    return Error{ErrorKind::kUsage, fmt::format("{}: the token is empty", from),
                 "leave it out where none is wanted"};
  }
  if (token.size() > kTokenBytesMax || std::ranges::any_of(token, is_control)) {
    return Error{ErrorKind::kUsage,
                 fmt::format("{}: a token is one line of at most {} bytes", from, kTokenBytesMax),
                 ""};
  }
  return Done{};
}

}  // namespace

Result<std::string> FindToken(const GlobalOptions& global, const ServeArguments& arguments) {
  if (arguments.token.has_value() && arguments.token_file.has_value()) {
    return Error{ErrorKind::kUsage, "--token and --token-file: only one of them", ""};
  }
  if (arguments.token_file.has_value()) {
    TRACEDB_ASSIGN(token, ReadTokenFile(global, *arguments.token_file));
    TRACEDB_TRY(CheckToken(token, "--token-file " + *arguments.token_file));
    return token;
  }
  const char* const named = std::getenv("TRACEDB_TOKEN");
  if (!arguments.token.has_value() && named == nullptr) return std::string();
  const std::string token = arguments.token.has_value() ? *arguments.token : named;
  TRACEDB_TRY(CheckToken(token, arguments.token.has_value() ? "--token" : "$TRACEDB_TOKEN"));
  return token;
}

}  // namespace tracedb
