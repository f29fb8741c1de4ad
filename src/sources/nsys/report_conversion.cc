#include "tracedb/sources/nsys/report_conversion.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "tracedb/base/database_files.h"
#include "tracedb/base/file_bytes.h"
#include "tracedb/base/folder_entries.h"
#include "tracedb/base/remove_tree.h"

namespace tracedb {
namespace {

namespace fs = std::filesystem;

constexpr const char* kAdvice =
    "nsys export --type sqlite --include-blobs=true REPORT makes of it what tracedb ingest reads";

std::optional<fs::path> FindNsys() {
  const char* const path = std::getenv("PATH");
  std::string_view left = path == nullptr ? std::string_view() : path;
  while (!left.empty()) {
    const size_t end = std::min(left.find(':'), left.size());
    const fs::path file = fs::path(left.substr(0, end)) / "nsys";
    std::error_code error;
    if (end > 0 && fs::is_regular_file(file, error) && access(file.c_str(), X_OK) == 0) return file;
    left.remove_prefix(std::min(end + 1, left.size()));
  }
  return std::nullopt;
}

// NAME.nsys-, the process, and what makes it new.
std::string FolderStart(const fs::path& database) {
  constexpr size_t kNameBytesMax = 200;
  return database.filename().string().substr(0, kNameBytesMax) + ".nsys-";
}

fs::path FolderOf(const fs::path& database) {
  return database.has_parent_path() ? database.parent_path() : fs::path(".");
}

// Folders of processes that are gone.
void RemoveLeft(const fs::path& database) {
  const std::string start = FolderStart(database);
  FolderEntries entries(FolderOf(database));
  while (entries.Next()) {
    const std::string name(entries.name());
    if (!name.starts_with(start)) continue;
    pid_t process = 0;
    const char* const begin = name.data() + start.size();
    const auto [end, trouble] = std::from_chars(begin, name.data() + name.size(), process);
    if (trouble != std::errc() || *end != '-' || process <= 0) continue;
    const bool is_gone = kill(process, 0) != 0 && errno == ESRCH;
    if (is_gone && !entries.IsLink() && entries.IsFolder()) RemoveTree(entries.path().c_str());
  }
}

// A program of its own process group, so that what it starts ends with it.
class Child {
 public:
  static Result<Child> Start(const fs::path& program, const std::vector<std::string>& arguments,
                             const fs::path& said) {
    std::vector<char*> words;
    for (const std::string& argument : arguments)
      words.push_back(const_cast<char*>(argument.data()));
    words.push_back(nullptr);
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&files, 1, said.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    posix_spawn_file_actions_adddup2(&files, 1, 2);
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF);
    posix_spawnattr_setpgroup(&attributes, 0);
    sigset_t usual;
    sigemptyset(&usual);
    for (const int number : {SIGINT, SIGTERM, SIGPIPE, SIGHUP, SIGCHLD}) {
      sigaddset(&usual, number);
    }
    posix_spawnattr_setsigdefault(&attributes, &usual);
    // Where its parent has ignored it the system keeps no exit status of children.
    signal(SIGCHLD, SIG_DFL);
    pid_t process = 0;
    const int failed =
        posix_spawn(&process, program.c_str(), &files, &attributes, words.data(), environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&files);
    if (failed != 0) {
      return Error{ErrorKind::kInput,
                   program.string() + ": cannot be run: " + std::strerror(failed), kAdvice};
    }
    return Child(process);
  }

  // Its exit status as waitpid() has it; none: it was stopped, or nobody knows how it ended.
  std::optional<int> Wait(const std::atomic<bool>& stop) const {
    constexpr int kLookEveryMs = 20;
    constexpr int kLooksUntilKilled = 100;
    int status = 0;
    int looks_since_stop = 0;
    for (;;) {
      const pid_t ended = waitpid(process_, &status, WNOHANG);
      if (ended == process_) break;
      // It is gone, and its number may be another's.
      if (ended < 0 && errno != EINTR) return std::nullopt;
      if (stop.load()) {
        kill(-process_, looks_since_stop < kLooksUntilKilled ? SIGTERM : SIGKILL);
        ++looks_since_stop;
      }
      poll(nullptr, 0, kLookEveryMs);
    }
    if (stop.load()) return std::nullopt;
    return status;
  }

 private:
  explicit Child(pid_t process) : process_(process) {}
  pid_t process_;
};

// The last line that it has written, which tells why it failed.
std::string LastLine(const fs::path& said) {
  constexpr size_t kShownMax = 300;
  constexpr size_t kReadMax = 1 << 20;
  std::string text = ReadFileStart(said, kReadMax).value_or("");
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.pop_back();
  const size_t line = text.find_last_of('\n');
  if (line != std::string::npos) text.erase(0, line + 1);
  for (char& c : text) c = c < ' ' || c > '~' ? '?' : c;
  return text.substr(0, kShownMax);
}

}  // namespace

bool ReportConversion::IsPossible() { return FindNsys().has_value(); }

ReportConversion::~ReportConversion() {
  if (!folder_.empty()) RemoveTree(folder_.c_str());
}

Result<std::shared_ptr<const ReportConversion>> ReportConversion::Run(
    const std::filesystem::path& report, const std::filesystem::path& database,
    const std::atomic<bool>& stop) {
  const auto nsys = FindNsys();
  if (!nsys.has_value()) {
    return Error{ErrorKind::kNoTrace,
                 report.string() + ": a report of Nsight Systems, and there is no nsys in PATH",
                 kAdvice};
  }
  const fs::path real = RealName(database);
  RemoveLeft(real);
  const std::string folder =
      (FolderOf(real) / (FolderStart(real) + std::to_string(getpid()))).string() + "-XXXXXX";
  std::shared_ptr<ReportConversion> conversion(new ReportConversion(folder));
  if (mkdtemp(conversion->folder_.data()) == nullptr) {
    conversion->folder_.clear();
    return Error{ErrorKind::kOutput, folder + ": cannot be made: " + std::strerror(errno),
                 "choose another place with --db"};
  }
  const fs::path said = fs::path(conversion->folder_) / "said";
  TRACEDB_ASSIGN(child,
                 Child::Start(*nsys,
                              {"nsys", "export", "--type=sqlite", "--include-blobs=true",
                               "--force-overwrite=true", "--output=" + conversion->made().string(),
                               fs::absolute(report).string()},
                              said));
  const auto status = child.Wait(stop);
  if (!status.has_value() && !stop.load()) {
    return Error{ErrorKind::kInput, report.string() + ": nsys export ended, and nobody knows how",
                 kAdvice};
  }
  if (!status.has_value()) {
    return Error{ErrorKind::kInput, "interrupted", "the database is as it was"};
  }
  std::error_code error;
  if (*status != 0 || !fs::is_regular_file(conversion->made(), error)) {
    const std::string how = WIFEXITED(*status) ? "exit " + std::to_string(WEXITSTATUS(*status))
                                               : "signal " + std::to_string(WTERMSIG(*status));
    const std::string line = LastLine(said);
    return Error{
        ErrorKind::kInput,
        report.string() + ": nsys export failed (" + how + ")" + (line.empty() ? "" : ": " + line),
        "look whether this nsys is as new as the one that recorded it"};
  }
  return std::shared_ptr<const ReportConversion>(std::move(conversion));
}

}  // namespace tracedb
