#include "cli_temporary.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <string>
#include <system_error>

#include "tracedb/base/remove_tree.h"

namespace tracedb {

namespace fs = std::filesystem;

Result<std::unique_ptr<TemporaryFolder>> TemporaryFolder::Create(std::string_view name) {
  const char* named = std::getenv("TMPDIR");
  const fs::path parent = named != nullptr && *named != '\0' ? named : "/tmp";
  // Before there is a folder: from then on nothing needs memory to take it away again.
  auto folder =
      std::make_unique<TemporaryFolder>((parent / (std::string(name) + "XXXXXX")).string());
  if (mkdtemp(folder->name_.data()) == nullptr) {
    folder->name_.clear();
    return Error{ErrorKind::kOutput,
                 fmt::format("{}: cannot make a temporary folder: {}", parent.string(),
                             std::generic_category().message(errno)),
                 "set TMPDIR to a folder with room for a seventh of the traces' JSON"};
  }
  return folder;
}

TemporaryFolder::~TemporaryFolder() {
  if (!name_.empty()) RemoveTree(name_.c_str());
}

}  // namespace tracedb
