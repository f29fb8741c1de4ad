#include "ingest/load/ingest_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <string_view>
#include <thread>
#include <utility>

#include "tracedb/base/database_files.h"
#include "tracedb/base/nameless_file.h"
#include "tracedb/ingest/load/rows_file.h"

namespace tracedb {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kMark =
    "tracedb: while an ingest works, it has this file locked; it can go when none does\n";

// Earlier versions made rows in this file: what a killed ingest left of them is ours as well.
bool CarriesMark(int file) {
  std::array<char, kMark.size() + 1> text;
  const ssize_t got = pread(file, text.data(), text.size(), 0);
  const bool is_mark = got == static_cast<ssize_t>(kMark.size()) &&
                       std::string_view(text.data(), kMark.size()) == kMark;
  return is_mark || IsRowsOfTracedb(file);
}

bool WriteMark(int file) {
  const ssize_t wrote = write(file, kMark.data(), kMark.size());
  if (wrote >= 0 && wrote < static_cast<ssize_t>(kMark.size())) errno = ENOSPC;
  return wrote == static_cast<ssize_t>(kMark.size());
}

}  // namespace

IngestLock::IngestLock(IngestLock&& other) noexcept
    : name_(std::move(other.name_)),
      file_(std::exchange(other.file_, -1)),
      is_ours_(other.is_ours_) {}

IngestLock::~IngestLock() {
  if (file_ < 0) return;
  if (is_ours_ && !IsAnothers()) unlink(name_.c_str());
  Close();
}

void IngestLock::Close() { close(std::exchange(file_, -1)); }

Result<IngestLock> IngestLock::Take(const fs::path& database, const LoadOptions& options) {
  TRACEDB_TRY(CheckNameIsFree(database));
  fs::path name = database;
  name += ".partial";
  IngestLock lock(std::move(name));
  for (;;) {
    TRACEDB_ASSIGN(found, lock.Find(database, options));
    if (found) return lock;
    TRACEDB_ASSIGN(made, lock.Make());
    if (made) return lock;
  }
}

// The file has its mark and its lock before it has its name, where that can be.
Result<bool> IngestLock::Make() {
  constexpr unsigned kMode = 0666;
  file_ = OpenNameless(name_.parent_path(), kMode);
  const bool is_nameless = file_ >= 0;
  if (!is_nameless) file_ = open(name_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, kMode);
  is_ours_ = file_ >= 0 && flock(file_, LOCK_EX | LOCK_NB) == 0;
  if (is_ours_ && is_nameless) {
    is_ours_ = WriteMark(file_) && GiveName(file_, name_);
  } else if (is_ours_) {
    is_ours_ = MarkNamed();
  }
  if (is_ours_) return true;
  // Another ingest may have made it, or have it: then it is found.
  const int why = errno;
  if (file_ >= 0) Close();
  errno = why;
  if (why == EEXIST || why == EWOULDBLOCK) return false;
  return FileError(name_, "create", kFolderAdvice);
}

// Where a file cannot be made without a name. Another ingest that found it before it was locked may
// have had its turn already.
bool IngestLock::MarkNamed() {
  if (!IsStillNamed()) {
    errno = EEXIST;
    return false;
  }
  if (WriteMark(file_)) return true;
  const int why = errno;
  unlink(name_.c_str());
  errno = why;
  return false;
}

// False: there is none any more.
Result<bool> IngestLock::Find(const fs::path& database, const LoadOptions& options) {
  constexpr int kFlags = O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOCTTY;
  file_ = open(name_.c_str(), O_RDWR | kFlags);
  if (file_ < 0 && errno == EACCES) file_ = open(name_.c_str(), O_RDONLY | kFlags);
  if (file_ < 0 && errno == ENOENT) return false;
  const char* const advice = "move it away: an ingest has its lock there";
  if (file_ < 0 && errno == ELOOP) {
    return Error{ErrorKind::kOutput, name_.string() + ": a symbolic link", advice};
  }
  if (file_ < 0) return FileError(name_, "open", errno == EACCES ? kFolderAdvice : advice);
  struct stat status {};
  if (fstat(file_, &status) != 0 || !S_ISREG(status.st_mode)) {
    Close();
    return Error{ErrorKind::kOutput, name_.string() + ": not a regular file", advice};
  }
  TRACEDB_TRY(Wait(database, options));
  // Whoever had the lock may have removed the file meanwhile: then it is not the one to lock.
  is_ours_ = CarriesMark(file_);
  if (IsStillNamed()) return true;
  Close();
  return false;
}

bool IngestLock::IsStillNamed() const {
  struct stat held {};
  struct stat named {};
  return fstat(file_, &held) == 0 && lstat(name_.c_str(), &named) == 0 &&
         held.st_ino == named.st_ino && held.st_dev == named.st_dev;
}

// That it cannot be looked at makes it nobody else's: it was ours when it was locked.
bool IngestLock::IsAnothers() const {
  struct stat held {};
  struct stat named {};
  return fstat(file_, &held) == 0 && lstat(name_.c_str(), &named) == 0 &&
         (held.st_ino != named.st_ino || held.st_dev != named.st_dev);
}

// Asks again and again: a signal that comes just before a waiting call would be lost.
Status IngestLock::Wait(const fs::path& database, const LoadOptions& options) {
  constexpr auto kBetween = std::chrono::milliseconds(20);
  bool said = false;
  while (flock(file_, LOCK_EX | LOCK_NB) != 0) {
    const bool stop = options.stop != nullptr && options.stop->load();
    if (stop || (errno != EWOULDBLOCK && errno != EINTR)) {
      if (stop) errno = EINTR;
      const Error error = FileError(name_, "lock", "");
      Close();
      return error;
    }
    if (!said && options.on_note) {
      options.on_note("waiting for another ingest into " + database.string());
    }
    said = true;
    std::this_thread::sleep_for(kBetween);
  }
  return Done{};
}

}  // namespace tracedb
