#include "tracedb/ingest/load/rows_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <string>
#include <system_error>
#include <utility>

#include "tracedb/base/database_files.h"
#include "tracedb/base/folder_entries.h"
#include "tracedb/base/nameless_file.h"
#include "tracedb/schema/database_id.h"

namespace tracedb {
namespace {

namespace fs = std::filesystem;

// NAME.partial-, with so much of NAME as leaves room for the digits. What two databases share then
// is safe: only what nobody has locked is removed.
fs::path StartOf(const fs::path& database) {
  constexpr size_t kNameBytesMax = 220;  // and for the ending of a journal, which is looked for
  return database.parent_path() /
         (database.filename().string().substr(0, kNameBytesMax) + ".partial-");
}

// Nothing, or less than the header of SQLite's file format, which is no database of anybody.
bool IsStartOfHeader(int file, off_t bytes) {
  constexpr off_t kHeaderBytes = 100;
  std::array<char, kSqliteHeader.size()> start;
  if (bytes >= kHeaderBytes) return false;
  const ssize_t got = pread(file, start.data(), start.size(), 0);
  return got >= 0 &&
         kSqliteHeader.starts_with(std::string_view(start.data(), static_cast<size_t>(got)));
}

bool IsLeft(int file) {
  struct stat status {};
  if (flock(file, LOCK_EX | LOCK_NB) != 0) return false;
  if (fstat(file, &status) != 0 || !S_ISREG(status.st_mode) || status.st_nlink != 1) return false;
  return IsStartOfHeader(file, status.st_size) || IsRowsOfTracedb(file);
}

}  // namespace

Error FileError(const fs::path& path, const char* doing, const char* advice) {
  return Error{ErrorKind::kOutput,
               path.string() + ": cannot " + doing + ": " + std::strerror(errno), advice};
}

Result<SqliteDb> OpenRows(const fs::path& rows_file, const LoadOptions& options) {
  TRACEDB_ASSIGN(db, SqliteDb::Open(rows_file, SqliteMode::kReadWrite));
  if (options.stop != nullptr) db.StopWhen(*options.stop);
  TRACEDB_TRY(
      db.Execute("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -" +
                 std::to_string(options.limits.sqlite_cache_kib) + "; BEGIN"));
  return db;
}

bool IsRowsOfTracedb(int file) {
  constexpr size_t kIdAt = 68;  // SQLite's file format: PRAGMA application_id
  std::array<char, kIdAt + 4> header;
  if (pread(file, header.data(), header.size(), 0) != static_cast<ssize_t>(header.size())) {
    return false;
  }
  uint32_t id = 0;
  for (size_t i = kIdAt; i < header.size(); ++i) id = id << 8 | static_cast<uint8_t>(header[i]);
  return std::string_view(header.data(), kSqliteHeader.size()) == kSqliteHeader &&
         id == static_cast<uint32_t>(kApplicationId);
}

RowsFile::RowsFile(RowsFile&& other) noexcept
    : path_(std::move(other.path_)), file_(std::exchange(other.file_, -1)) {}

RowsFile::~RowsFile() {
  if (file_ < 0) return;
  unlink(path_.c_str());
  close(file_);
}

void RowsFile::Landed() { close(std::exchange(file_, -1)); }

Result<RowsFile> RowsFile::Make(const fs::path& database) {
  constexpr int kTries = 10;
  const fs::path start = StartOf(database);
  for (int tries = 0;; ++tries) {
    RowsFile made(RandomName(start));
    if (made.Open()) return made;
    if (tries == kTries || (errno != EEXIST && errno != ENOENT && errno != EWOULDBLOCK)) {
      return FileError(made.path_, "create", kFolderAdvice);
    }
  }
}

// False with errno: ENOENT when one who takes away what was left behind has come in between.
bool RowsFile::Open() {
  constexpr unsigned kMode = 0666;
  file_ = OpenNameless(path_.parent_path(), kMode);
  bool is_open = file_ >= 0 && flock(file_, LOCK_EX | LOCK_NB) == 0 && GiveName(file_, path_);
  if (file_ < 0) {
    file_ = open(path_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, kMode);
    if (file_ < 0) return false;
    is_open = flock(file_, LOCK_EX | LOCK_NB) == 0 && access(path_.c_str(), F_OK) == 0;
    if (!is_open) return false;  // and the name goes with this object
  }
  if (!is_open) close(std::exchange(file_, -1));
  return is_open;
}

void RowsFile::RemoveLeft(const fs::path& database) {
  const fs::path start = StartOf(database);
  const fs::path folder = database.has_parent_path() ? database.parent_path() : fs::path(".");
  FolderEntries entries(folder);
  while (entries.Next()) {
    const fs::path name = entries.path();
    if (!IsRandomName(start, name)) continue;
    const int file = open(name.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (file < 0) continue;
    if (IsLeft(file)) unlink(name.c_str());
    close(file);
  }
}

}  // namespace tracedb
