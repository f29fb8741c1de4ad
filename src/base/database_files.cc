#include "tracedb/base/database_files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <iterator>
#include <string>
#include <system_error>
#include <vector>

#include "tracedb/base/file_bytes.h"
#include "tracedb/base/nameless_file.h"

namespace tracedb {

namespace fs = std::filesystem;

fs::path RealName(fs::path path) {
  constexpr int kLinksMax = 40;
  std::error_code error;
  for (int links = 0; links < kLinksMax && fs::is_symlink(path, error); ++links) {
    const fs::path target = fs::read_symlink(path, error);
    if (error) break;
    path = path.parent_path() / target;  // the target alone, where it is absolute
  }
  return path;
}

fs::path CompanionOf(const fs::path& database, std::string_view ending) {
  fs::path name = RealName(database);
  name += ending;
  return name;
}

fs::path OwnerOfName(const fs::path& name) {
  constexpr std::string_view kLock = ".partial";
  const std::string whole = name.string();
  std::vector<std::string_view> endings = {kLock};
  endings.insert(endings.end(), std::begin(kCompanionEndings), std::end(kCompanionEndings));
  for (const std::string_view ending : endings) {
    if (whole.size() > ending.size() && whole.ends_with(ending)) {
      return whole.substr(0, whole.size() - ending.size());
    }
  }
  const size_t at = whole.rfind(std::string(kLock) + "-");
  if (at == std::string::npos || at == 0) return {};
  if (!IsRandomName(whole.substr(0, at + kLock.size() + 1), name)) return {};
  return whole.substr(0, at);
}

Status CheckNameIsFree(const fs::path& name) {
  const fs::path owner = OwnerOfName(RealName(name));
  if (owner.empty() || !IsSqliteFile(owner)) return Done{};
  return Error{ErrorKind::kUsage,
               name.string() + ": this name belongs to the database " + owner.string(),
               "choose another name"};
}

bool HasJournalToPlayBack(const fs::path& database) {
  std::array<char, 1> first{};
  return ReadFileAt(CompanionOf(database, "-journal"), 0, first) == 1 && first[0] != 0;
}

bool IsSqliteFile(const fs::path& path) {
  struct stat status {};
  if (stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return false;
  std::array<char, kSqliteHeader.size()> first{};
  return ReadFileAt(path, 0, first) == first.size() &&
         std::string_view(first.data(), first.size()) == kSqliteHeader;
}

bool IsSameFile(const fs::path& one, const fs::path& other) {
  struct stat a {};
  struct stat b {};
  return stat(one.c_str(), &a) == 0 && stat(other.c_str(), &b) == 0 && a.st_dev == b.st_dev &&
         a.st_ino == b.st_ino;
}

std::shared_ptr<const WriterWatch> WriterWatch::Open(const fs::path& database) {
  const int file = open(database.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (file < 0) return nullptr;
  struct Opened : WriterWatch {
    explicit Opened(int opened) : WriterWatch(opened) {}
  };
  return std::make_shared<const Opened>(file);
}

WriterWatch::~WriterWatch() { close(file_); }

bool WriterWatch::IsWriterWaiting() const {
  constexpr off_t kPendingByte = 0x40000000;  // SQLite's file format: the lock byte page
  struct flock lock {};
  // A lock for reading is in the way of no reader's, only of a writer's.
  lock.l_type = F_RDLCK;
  lock.l_whence = SEEK_SET;
  lock.l_start = kPendingByte;
  lock.l_len = 1;
  return fcntl(file_, F_GETLK, &lock) == 0 && lock.l_type == F_WRLCK;
}

}  // namespace tracedb
