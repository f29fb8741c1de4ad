// A library that a test preloads into the program: the N-th call of a kind on files below a folder
// fails, is cut short, or is where the process ends. Told by the environment:
//
//   FAULT_UNDER   the folder; calls on other files go through uncounted
//   FAULT_CALLS   kinds, separated by commas: read pread write sync open opendir close unlink
//                 rename truncate lock stat
//   FAULT_AT      the call that is hit, from 1; 0: none, for counting
//   FAULT_HOW     once    it fails, later ones do not         always  it and all later ones fail
//                 short   (write) half is written; later ones fail
//                 kill    SIGKILL before it                    torn    (write) half of it, then
//                 SIGKILL signal  FAULT_ERRNO as a signal before it, which then goes through
//   FAULT_ERRNO   the error number
//   FAULT_LOG     a file that gets a line for each counted call: kind and path
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

namespace {

// The function that this library stands in front of.
template <typename Function>
Function Next(Function, const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

std::string Setting(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

int Number(const char* name) {
  const std::string text = Setting(name);
  int number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

struct Settings {
  std::string under = Setting("FAULT_UNDER");
  std::string calls = "," + Setting("FAULT_CALLS") + ",";
  std::string how = Setting("FAULT_HOW");
  std::string log = Setting("FAULT_LOG");
  int at = Number("FAULT_AT");
  int error = Number("FAULT_ERRNO");
};

const Settings& Told() {
  static const Settings settings;
  return settings;
}

std::atomic<int> calls_counted = 0;

void Log(const char* kind, std::string_view path) {
  static const auto real_open = Next(&open, "open");
  static const auto real_write = Next(&write, "write");
  static const int log =
      real_open(Told().log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  const std::string line = std::string(kind) + " " + std::string(path) + "\n";
  [[maybe_unused]] const ssize_t written = real_write(log, line.data(), line.size());
}

enum class Fate { kGoes, kFails, kShort, kTorn };

void Kill() {
  kill(getpid(), SIGKILL);
  for (;;) pause();
}

// What becomes of this call. Sets errno when it is to fail.
Fate FateOf(const char* kind, std::string_view path) {
  const Settings& told = Told();
  if (told.under.empty() || !path.starts_with(told.under)) return Fate::kGoes;
  if (told.calls.find("," + std::string(kind) + ",") == std::string::npos) return Fate::kGoes;
  const int call = ++calls_counted;
  if (!told.log.empty()) Log(kind, path);
  if (told.at == 0 || call < told.at) return Fate::kGoes;
  if (call == told.at) {
    if (told.how == "kill") Kill();
    if (told.how == "torn") return Fate::kTorn;
    if (told.how == "short") return Fate::kShort;
    if (told.how == "signal") {
      kill(getpid(), told.error);
      return Fate::kGoes;
    }
  } else if (told.how == "once" || told.how == "signal") {
    return Fate::kGoes;
  }
  errno = told.error;
  return Fate::kFails;
}

Fate FateOf(const char* kind, int fd) {
  char path[4096];
  const std::string link = "/proc/self/fd/" + std::to_string(fd);
  const ssize_t length = readlink(link.c_str(), path, sizeof path);
  if (length <= 0) return Fate::kGoes;
  return FateOf(kind, std::string_view(path, static_cast<size_t>(length)));
}

bool Fails(const char* kind, int fd) { return FateOf(kind, fd) == Fate::kFails; }
bool Fails(const char* kind, const char* path) { return FateOf(kind, path) == Fate::kFails; }

// `real_write` of this many bytes.
template <typename Write>
ssize_t Written(int fd, size_t size, Write real_write) {
  switch (FateOf("write", fd)) {
    case Fate::kGoes:
      return real_write(size);
    case Fate::kFails:
      return -1;
    case Fate::kShort:
      return real_write((size + 1) / 2);
    case Fate::kTorn:
      real_write((size + 1) / 2);
      Kill();
  }
  return -1;
}

}  // namespace

extern "C" {

ssize_t read(int fd, void* into, size_t size) {
  static const auto real = Next(&read, "read");
  return Fails("read", fd) ? -1 : real(fd, into, size);
}

// C streams read past `read`: what cannot be read takes the file's place.
size_t fread(void* into, size_t size, size_t count, FILE* stream) {
  static const auto real = Next(&fread, "fread");
  static const auto real_open = Next(&open, "open");
  if (Fails("read", fileno(stream))) dup2(real_open("/proc/self/mem", O_RDONLY), fileno(stream));
  return real(into, size, count, stream);
}

ssize_t pread(int fd, void* into, size_t size, off_t at) {
  static const auto real = Next(&pread, "pread");
  return Fails("pread", fd) ? -1 : real(fd, into, size, at);
}

ssize_t pread64(int fd, void* into, size_t size, off64_t at) {
  static const auto real = Next(&pread64, "pread64");
  return Fails("pread", fd) ? -1 : real(fd, into, size, at);
}

ssize_t write(int fd, const void* from, size_t size) {
  static const auto real = Next(&write, "write");
  return Written(fd, size, [=](size_t bytes) { return real(fd, from, bytes); });
}

ssize_t pwrite(int fd, const void* from, size_t size, off_t at) {
  static const auto real = Next(&pwrite, "pwrite");
  return Written(fd, size, [=](size_t bytes) { return real(fd, from, bytes, at); });
}

ssize_t pwrite64(int fd, const void* from, size_t size, off64_t at) {
  static const auto real = Next(&pwrite64, "pwrite64");
  return Written(fd, size, [=](size_t bytes) { return real(fd, from, bytes, at); });
}

ssize_t pwritev(int fd, const iovec* pieces, int count, off_t at) {
  static const auto real = Next(&pwritev, "pwritev");
  std::vector<iovec> cut(pieces, pieces + count);
  size_t size = 0;
  for (const iovec& piece : cut) size += piece.iov_len;
  return Written(fd, size, [&](size_t bytes) {
    size_t kept = 0;
    for (; bytes > 0; ++kept) {
      cut[kept].iov_len = std::min(cut[kept].iov_len, bytes);
      bytes -= cut[kept].iov_len;
    }
    return real(fd, cut.data(), static_cast<int>(kept), at);
  });
}

int fsync(int fd) {
  static const auto real = Next(&fsync, "fsync");
  return Fails("sync", fd) ? -1 : real(fd);
}

int fdatasync(int fd) {
  static const auto real = Next(&fdatasync, "fdatasync");
  return Fails("sync", fd) ? -1 : real(fd);
}

int sync_file_range(int fd, off64_t from, off64_t size, unsigned flags) {
  static const auto real = Next(&sync_file_range, "sync_file_range");
  return Fails("sync", fd) ? -1 : real(fd, from, size, flags);
}

int open(const char* path, int flags, ...) {
  static const auto real = Next(&open, "open");
  va_list more;
  va_start(more, flags);
  const mode_t mode = (flags & O_CREAT) != 0 ? va_arg(more, mode_t) : 0;
  va_end(more);
  return Fails("open", path) ? -1 : real(path, flags, mode);
}

DIR* opendir(const char* path) {
  static const auto real = Next(&opendir, "opendir");
  return Fails("opendir", path) ? nullptr : real(path);
}

// Of folders alone: paths of files below a descriptor are not looked up.
int openat(int at, const char* path, int flags, ...) {
  static const auto real = Next(&openat, "openat");
  va_list more;
  va_start(more, flags);
  const mode_t mode = (flags & O_CREAT) != 0 ? va_arg(more, mode_t) : 0;
  va_end(more);
  const bool folder = (flags & O_DIRECTORY) != 0;
  return folder && Fails("opendir", path) ? -1 : real(at, path, flags, mode);
}

int open64(const char* path, int flags, ...) {
  static const auto real = Next(&open64, "open64");
  va_list more;
  va_start(more, flags);
  const mode_t mode = (flags & O_CREAT) != 0 ? va_arg(more, mode_t) : 0;
  va_end(more);
  return Fails("open", path) ? -1 : real(path, flags, mode);
}

FILE* fopen(const char* path, const char* mode) {
  static const auto real = Next(&fopen, "fopen");
  return Fails("open", path) ? nullptr : real(path, mode);
}

// The descriptor is gone either way, as with the real one.
int close(int fd) {
  static const auto real = Next(&close, "close");
  const bool fails = Fails("close", fd);
  const int error = errno;
  const int closed = real(fd);
  if (!fails) return closed;
  errno = error;
  return -1;
}

int unlink(const char* path) noexcept {
  static const auto real = Next(&unlink, "unlink");
  return Fails("unlink", path) ? -1 : real(path);
}

int rename(const char* from, const char* to) noexcept {
  static const auto real = Next(&rename, "rename");
  return Fails("rename", from) ? -1 : real(from, to);
}

int renameat2(int from_folder, const char* from, int to_folder, const char* to,
              unsigned flags) noexcept {
  static const auto real = Next(&renameat2, "renameat2");
  return Fails("rename", from) ? -1 : real(from_folder, from, to_folder, to, flags);
}

int ftruncate(int fd, off_t size) noexcept {
  static const auto real = Next(&ftruncate, "ftruncate");
  return Fails("truncate", fd) ? -1 : real(fd, size);
}

int ftruncate64(int fd, off64_t size) noexcept {
  static const auto real = Next(&ftruncate64, "ftruncate64");
  return Fails("truncate", fd) ? -1 : real(fd, size);
}

int flock(int fd, int what) noexcept {
  static const auto real = Next(&flock, "flock");
  return Fails("lock", fd) ? -1 : real(fd, what);
}

int fcntl64(int fd, int command, ...) {
  static const auto real = Next(&fcntl64, "fcntl64");
  va_list more;
  va_start(more, command);
  void* argument = va_arg(more, void*);
  va_end(more);
  const bool locks = command == F_SETLK || command == F_SETLKW || command == F_GETLK;
  return locks && Fails("lock", fd) ? -1 : real(fd, command, argument);
}

int stat(const char* path, struct stat* into) noexcept {
  static const auto real = Next(&stat, "stat");
  return Fails("stat", path) ? -1 : real(path, into);
}

int stat64(const char* path, struct stat64* into) noexcept {
  static const auto real = Next(&stat64, "stat64");
  return Fails("stat", path) ? -1 : real(path, into);
}

int fstat(int fd, struct stat* into) noexcept {
  static const auto real = Next(&fstat, "fstat");
  return Fails("stat", fd) ? -1 : real(fd, into);
}

int fstat64(int fd, struct stat64* into) noexcept {
  static const auto real = Next(&fstat64, "fstat64");
  return Fails("stat", fd) ? -1 : real(fd, into);
}

int lstat64(const char* path, struct stat64* into) noexcept {
  static const auto real = Next(&lstat64, "lstat64");
  return Fails("stat", path) ? -1 : real(path, into);
}

}  // extern "C"
