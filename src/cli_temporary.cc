#include "cli_temporary.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <string>
#include <system_error>

namespace tracedb {

namespace fs = std::filesystem;

Result<std::unique_ptr<TemporaryFolder>> TemporaryFolder::Create(std::string_view name) {
  const char* named = std::getenv("TMPDIR");
  const fs::path parent = named != nullptr && *named != '\0' ? named : "/tmp";
  std::string path = (parent / (std::string(name) + "XXXXXX")).string();
  if (mkdtemp(path.data()) == nullptr) {
    return Error{ErrorKind::kOutput,
                 fmt::format("{}: cannot make a temporary folder: {}", parent.string(),
                             std::generic_category().message(errno)),
                 "set TMPDIR to a folder with room for a seventh of the traces' JSON"};
  }
  return std::make_unique<TemporaryFolder>(path);
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

}  // namespace tracedb
