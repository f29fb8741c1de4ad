#include "tracedb/text/output_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <iterator>
#include <system_error>
#include <utility>

#include "text/input_files.h"
#include "tracedb/base/database_files.h"
#include "tracedb/base/nameless_file.h"
#include "tracedb/base/no_memory.h"

namespace tracedb {
namespace {

namespace fs = std::filesystem;

constexpr int kNamesMax = 10;
constexpr const char* kHiddenStart = ".tracedb-";

Error Refused(const fs::path& path, std::string_view what, const char* advice) {
  return Error{ErrorKind::kUsage, fmt::format("-o {}: {}", path.string(), what), advice};
}

constexpr const char* kElsewhere = "write to another file";
constexpr const char* kForce = "write to another file; --force replaces this one";
constexpr const char* kMadeFrom = "this is what the answer is made from";

// The database whose files have such names; empty: none is there.
fs::path OwnerOfCompanion(const fs::path& target, const std::vector<fs::path>& databases) {
  fs::path owner = OwnerOfName(target);
  if (owner.empty()) return owner;
  const bool is_read = std::any_of(databases.begin(), databases.end(),
                                   [&](const fs::path& one) { return IsSameFile(owner, one); });
  return is_read || IsSqliteFile(owner) ? owner : fs::path();
}

bool IsFileOf(int descriptor, const fs::path& path) {
  struct stat opened {};
  struct stat there {};
  return fstat(descriptor, &opened) == 0 && S_ISREG(opened.st_mode) &&
         stat(path.c_str(), &there) == 0 && there.st_dev == opened.st_dev &&
         there.st_ino == opened.st_ino;
}

// What a shell has opened is written to, not replaced: /dev/stdout, /dev/fd/3 and their like lead
// to names in /proc, and those on to the file.
bool IsOpenedAlready(fs::path path) {
  constexpr int kLinksMax = 40;
  std::error_code code;
  for (int links = 0; links < kLinksMax && fs::is_symlink(path, code); ++links) {
    const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
    if (fs::canonical(folder, code).string().starts_with("/proc/")) return true;
    ThrowIfNoMemory(code);
    path = path.parent_path() / fs::read_symlink(path, code);
    ThrowIfNoMemory(code);
    if (code) break;
  }
  return false;
}

}  // namespace

Status OutputGuard::Check(const fs::path& path) const {
  const fs::path target = RealName(path);
  // First of all: what is open in this process must not be opened and closed once more, which would
  // drop the locks that SQLite has on it.
  for (const fs::path& database : databases) {
    if (IsSameFile(path, database)) {
      return Refused(path, "this is the database itself", kElsewhere);
    }
  }
  if (const fs::path owner = OwnerOfCompanion(target, databases); !owner.empty()) {
    return Refused(path, "this name belongs to the database " + owner.string(), kElsewhere);
  }
  return force ? Status(Done{}) : CheckInputs(path);
}

Status OutputGuard::CheckInputs(const fs::path& path) const {
  const fs::path target = RealName(path);
  std::error_code code;
  if (!fs::exists(target, code)) return Done{};
  for (const fs::path& input : inputs) {
    if (IsSameFile(path, input)) return Refused(path, kMadeFrom, kForce);
  }
  for (const fs::path& database : databases) {
    TRACEDB_ASSIGN(is_input, IsInputOf(database, path));
    if (is_input) return Refused(path, kMadeFrom, kForce);
  }
  if (IsSqliteFile(target)) return Refused(path, "this is a SQLite database", kForce);
  if (IsFileOf(STDIN_FILENO, path)) {
    return Refused(path, "this is what standard input reads", kForce);
  }
  if (IsOfSummary(target)) return Refused(path, "this is of a job's summaries", kForce);
  return Done{};
}

Status OutputGuard::CheckStandardOutput() const {
  for (const fs::path& database : databases) {
    if (!IsFileOf(STDOUT_FILENO, database)) continue;
    return Error{ErrorKind::kUsage, "standard output: this is the database itself", kElsewhere};
  }
  return Done{};
}

Error FileOutput::Failed(std::string_view doing) const {
  return CannotWrite(shown_.string(), doing, errno);
}

std::string EndingOf(const fs::path& path) {
  std::string ending = path.extension().string();
  std::ranges::transform(ending, ending.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return ending;
}

bool IsNewFileNamed(const std::filesystem::path& path,
                    std::initializer_list<std::string_view> endings) {
  std::error_code error;
  return std::find(endings.begin(), endings.end(), EndingOf(path)) != endings.end() &&
         !std::filesystem::exists(path, error);
}

Result<std::unique_ptr<FileOutput>> FileOutput::Create(const fs::path& path, OutputGuard guard) {
  TRACEDB_TRY(guard.Check(path));
  // Where a link points to, also when nothing is there yet; the link itself must stay.
  std::unique_ptr<FileOutput> output(new FileOutput(path, RealName(path), std::move(guard)));
  struct stat old {};
  const bool exists = stat(path.c_str(), &old) == 0;
  if (!exists && errno == ELOOP) return output->Failed("cannot write");
  if (exists && S_ISDIR(old.st_mode)) {
    errno = EISDIR;
    return output->Failed("cannot write");
  }
  if (exists && (!S_ISREG(old.st_mode) || IsOpenedAlready(path))) {
    TRACEDB_TRY(output->OpenAsItIs());
    return output;
  }
  if (exists && access(path.c_str(), W_OK) != 0) return output->Failed("cannot write");
  // Nobody who may not read the old file may open the new one, not even while it is empty.
  TRACEDB_TRY(output->OpenBeside(exists ? 0600 : 0666));
  if (!exists) return output;
  TRACEDB_TRY(output->KeepPermissions(old.st_uid, old.st_gid, old.st_mode));
  return output;
}

Status FileOutput::KeepPermissions(unsigned user, unsigned group, unsigned mode) {
  constexpr auto kAsItIs = static_cast<unsigned>(-1);
  // What one group may read is not for another one, where we may not give the file to that group.
  mode &= fchown(descriptor_, kAsItIs, group) == 0 ? 0777 : 0707;
  const bool is_theirs = fchown(descriptor_, user, kAsItIs) == 0;
  (void)is_theirs;  // else it is ours, as with every program that replaces another's file
  return fchmod(descriptor_, mode) == 0 ? Status(Done{}) : Failed("cannot keep its permissions");
}

Status FileOutput::OpenAsItIs() {
  // Appending, as a file that the shell has opened may hold something already.
  descriptor_ = open(shown_.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC | O_NOCTTY);
  if (descriptor_ < 0) return Failed("cannot write");
  struct stat opened {};
  const bool is_file = fstat(descriptor_, &opened) == 0 && S_ISREG(opened.st_mode);
  if (!is_file || IsOpenedAlready(shown_)) return Done{};
  return Refused(shown_, "another file has taken its place", "try again");
}

Status FileOutput::OpenBeside(unsigned mode) {
  is_beside_ = true;
  descriptor_ = OpenNameless(target_.parent_path(), mode);
  if (descriptor_ >= 0) return Done{};
  for (int i = 0; i < kNamesMax; ++i) {
    fs::path name = RandomName(target_.parent_path() / kHiddenStart);
    descriptor_ = open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
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
  if (is_beside_) return PutInPlace();
  if (close(std::exchange(descriptor_, -1)) != 0) return Failed("cannot write");
  return Done{};
}

Status FileOutput::PutInPlace() {
  // Some file systems tell only here that the bytes did not fit.
  if (fsync(descriptor_) != 0) return Failed("cannot write");
  TRACEDB_TRY(guard_.Check(shown_));  // an ingest may have made a database there meanwhile
  for (int i = 0; temporary_.empty(); ++i) {
    fs::path name = RandomName(target_.parent_path() / kHiddenStart);
    if (GiveName(descriptor_, name)) {
      temporary_ = std::move(name);
    } else if (errno != EEXIST || i == kNamesMax) {
      return Failed("cannot make the file");
    }
  }
  if (close(std::exchange(descriptor_, -1)) != 0) return Failed("cannot write");
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
