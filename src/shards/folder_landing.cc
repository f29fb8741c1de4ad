#include "shards/folder_landing.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <system_error>
#include <utility>
#include <vector>

#include "tracedb/base/folder_sync.h"
#include "tracedb/base/nameless_file.h"

namespace tracedb {
namespace {

namespace fs = std::filesystem;

// What was made takes the old one's name, in one step where the file system knows one; on others a
// kill in between leaves none, and the next run makes it again.
Status PutInPlace(const fs::path& made, const fs::path& folder) {
  if (rename(made.c_str(), folder.c_str()) == 0) return SyncFolderOf(folder);
  std::error_code error;
  if (renameat2(AT_FDCWD, made.c_str(), AT_FDCWD, folder.c_str(), RENAME_EXCHANGE) != 0) {
    const fs::path old = RandomName(made.parent_path() / ("." + folder.filename().string() + "."));
    if (rename(folder.c_str(), old.c_str()) != 0) return FolderError(folder, "move away");
    if (rename(made.c_str(), folder.c_str()) != 0) return FolderError(folder, "put there");
    fs::remove_all(old, error);
  } else {
    fs::remove_all(made, error);  // the old one has this name now
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

// What a killed one of the same rank has left.
void RemoveLeft(const fs::path& start) {
  std::error_code error;
  std::vector<fs::path> left;
  for (const auto& entry : fs::directory_iterator(start.parent_path(), error)) {
    if (IsRandomName(start, entry.path())) left.push_back(entry.path());
  }
  for (const fs::path& path : left) {
    const HeldFolder folder(path);
    if (folder.Hold()) fs::remove_all(path, error);
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
  std::error_code error;
  fs::path made;
  std::unique_ptr<HeldFolder> held;
  for (int tries = 0; held == nullptr || !held->Hold(); ++tries) {
    made = RandomName(start);
    if (tries == kTries || !fs::create_directory(made, error)) return FolderError(made, "create");
    held = std::make_unique<HeldFolder>(made);
  }
  Status written = write(made);
  if (written.ok()) written = PutInPlace(made, folder);
  if (!written.ok()) fs::remove_all(made, error);
  return written;
}

}  // namespace tracedb
