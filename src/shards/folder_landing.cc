#include "shards/folder_landing.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include "tracedb/base/folder_entries.h"
#include "tracedb/base/folder_sync.h"
#include "tracedb/base/nameless_file.h"
#include "tracedb/base/remove_tree.h"

namespace tracedb {
namespace {

namespace fs = std::filesystem;

// What was made takes the old one's name, in one step where the file system knows one; on others a
// kill in between leaves none, and the next run makes it again.
Status PutInPlace(const fs::path& made, const fs::path& folder) {
  if (rename(made.c_str(), folder.c_str()) == 0) return SyncFolderOf(folder);
  if (renameat2(AT_FDCWD, made.c_str(), AT_FDCWD, folder.c_str(), RENAME_EXCHANGE) != 0) {
    const fs::path old = RandomName(made.parent_path() / ("." + folder.filename().string() + "."));
    if (rename(folder.c_str(), old.c_str()) != 0) return FolderError(folder, "move away");
    if (rename(made.c_str(), folder.c_str()) != 0) return FolderError(folder, "put there");
    RemoveTree(old.c_str());
  } else {
    RemoveTree(made.c_str());  // the old one has this name now
  }
  return SyncFolderOf(folder);
}

// A folder that its maker locks while it fills it: another process of the same rank is not to take
// it for one that a killed process has left. A lock ends with its process.
class HeldFolder {
 public:
  explicit HeldFolder(const fs::path& path)
      : path_(path), file_(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW)) {}
  HeldFolder(const HeldFolder&) = delete;
  HeldFolder& operator=(const HeldFolder&) = delete;
  ~HeldFolder() {
    if (file_ >= 0) close(file_);
  }

  // False: another process has it, or has removed it. True also where there are no locks.
  bool Hold() const {
    if (file_ < 0 || (flock(file_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)) return false;
    struct stat mine {};
    struct stat there {};
    return fstat(file_, &mine) == 0 && stat(path_.c_str(), &there) == 0 &&
           mine.st_ino == there.st_ino && mine.st_dev == there.st_dev;
  }

 private:
  fs::path path_;
  int file_;
};

// A folder that goes with this object, unless it was given another name by then.
class MadeFolder {
 public:
  MadeFolder() = default;
  MadeFolder(const MadeFolder&) = delete;
  MadeFolder& operator=(const MadeFolder&) = delete;
  ~MadeFolder() {
    if (is_made_) RemoveTree(path_.c_str());
  }

  Status Make(fs::path path) {
    path_ = std::move(path);
    std::error_code error;
    is_made_ = fs::create_directory(path_, error);
    return is_made_ ? Status(Done{}) : FolderError(path_, "create");
  }
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
  bool is_made_ = false;
};

// What a killed one of the same rank has left.
void RemoveLeft(const fs::path& start) {
  std::vector<fs::path> left;
  FolderEntries entries(start.parent_path());
  while (entries.Next()) {
    if (IsRandomName(start, entries.path())) left.push_back(entries.path());
  }
  for (const fs::path& path : left) {
    const HeldFolder folder(path);
    if (folder.Hold()) RemoveTree(path.c_str());
  }
}

}  // namespace

Error FolderError(const fs::path& path, const char* doing) {
  return Error{ErrorKind::kOutput,
               fmt::format("{}: cannot {}: {}", path.string(), doing, std::strerror(errno)),
               kPlaceAdvice};
}

Status LandFolder(const fs::path& folder,
                  const std::function<Status(const fs::path& made)>& write) {
  constexpr int kTries = 10;
  const fs::path start = folder.parent_path() / ("." + folder.filename().string() + ".");
  RemoveLeft(start);
  std::optional<MadeFolder> made;
  std::optional<HeldFolder> held;
  for (int tries = 0; !held.has_value() || !held->Hold(); ++tries) {
    made.emplace();
    if (tries == kTries) return FolderError(folder, "create");
    TRACEDB_TRY(made->Make(RandomName(start)));
    held.emplace(made->path());
  }
  TRACEDB_TRY(write(made->path()));
  return PutInPlace(made->path(), folder);
}

}  // namespace tracedb
