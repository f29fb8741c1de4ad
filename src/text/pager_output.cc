#include "tracedb/text/pager_output.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <system_error>

#include "tracedb/text/result_text.h"

namespace tracedb {
namespace {

constexpr std::string_view kTerminal = "standard output";
constexpr int kNotFound = 127;  // what sh ends with where the program is not there
const std::vector<std::string> kLess = {"less", "-FRSX"};

size_t WidthWithoutColors(std::string_view line) {
  size_t width = 0;
  while (!line.empty()) {
    const size_t escape = std::min(line.find('\033'), line.size());
    width += DisplayWidth(line.substr(0, escape));
    line.remove_prefix(escape);
    line.remove_prefix(line.empty() ? 0 : std::min(line.find('m') + 1, line.size()));
  }
  return width;
}

bool IsProgram(const std::string& path) { return access(path.c_str(), X_OK) == 0; }

bool IsInPath(const std::string& name) {
  if (name.find('/') != std::string::npos) return IsProgram(name);
  const char* path = std::getenv("PATH");
  std::string_view left = path == nullptr ? "/usr/bin:/bin" : path;
  while (!left.empty()) {
    const size_t colon = std::min(left.find(':'), left.size());
    if (colon > 0 && IsProgram(std::string(left.substr(0, colon)) + "/" + name)) return true;
    left.remove_prefix(std::min(colon + 1, left.size()));
  }
  return false;
}

std::vector<std::string> Words(std::string_view text) {
  std::vector<std::string> words;
  while (true) {
    const size_t begin = text.find_first_not_of(" \t");
    if (begin == std::string_view::npos) return words;
    text.remove_prefix(begin);
    const size_t end = std::min(text.find_first_of(" \t"), text.size());
    words.emplace_back(text.substr(0, end));
    text.remove_prefix(end);
  }
}

// Ctrl-C is the pager's while it runs: it interrupts a search there, and not this program.
class InterruptsLeftAlone {
 public:
  InterruptsLeftAlone() {
    struct sigaction ignore = {};
    ignore.sa_handler = SIG_IGN;
    for (size_t i = 0; i < kSignals.size(); ++i) sigaction(kSignals[i], &ignore, &before_[i]);
  }
  ~InterruptsLeftAlone() {
    for (size_t i = 0; i < kSignals.size(); ++i) sigaction(kSignals[i], &before_[i], nullptr);
  }
  InterruptsLeftAlone(const InterruptsLeftAlone&) = delete;
  InterruptsLeftAlone& operator=(const InterruptsLeftAlone&) = delete;

 private:
  static constexpr std::array<int, 2> kSignals = {SIGINT, SIGQUIT};
  std::array<struct sigaction, 2> before_{};
};

// The child's standard input is the pipe's end; signals are as a program expects them, although
// this one ignores some.
int Spawn(const std::vector<std::string>& words, int input, pid_t& child) {
  std::vector<std::string> copy = words;
  std::vector<char*> arguments;
  for (std::string& word : copy) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t files;
  if (posix_spawn_file_actions_init(&files) != 0) return ENOMEM;
  posix_spawnattr_t attributes;
  if (posix_spawnattr_init(&attributes) != 0) {
    posix_spawn_file_actions_destroy(&files);
    return ENOMEM;
  }
  posix_spawn_file_actions_adddup2(&files, input, STDIN_FILENO);
  sigset_t as_usual;
  sigemptyset(&as_usual);
  for (const int signal : {SIGPIPE, SIGXFSZ, SIGINT, SIGTERM, SIGHUP}) {
    sigaddset(&as_usual, signal);
  }
  posix_spawnattr_setsigdefault(&attributes, &as_usual);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
  const int code =
      posix_spawnp(&child, arguments[0], &files, &attributes, arguments.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&files);
  return code;
}

}  // namespace

std::optional<Pager> FindPager() {
  const char* terminal = std::getenv("TERM");
  if (terminal == nullptr || *terminal == '\0' || std::string_view(terminal) == "dumb") {
    return std::nullopt;
  }
  const char* named = std::getenv("PAGER");
  if (named == nullptr) {
    if (!IsInPath("less")) return std::nullopt;
    return Pager{kLess};
  }
  const std::string_view text = named;
  // What only a shell can read is given to one.
  if (text.find_first_of("|&;<>()$`\\\"'*?[#~=%{}") != std::string_view::npos) {
    return Pager{{"/bin/sh", "-c", std::string(text)}};
  }
  std::vector<std::string> words = Words(text);
  if (words.empty() || !IsInPath(words[0])) return std::nullopt;
  return Pager{std::move(words)};
}

std::optional<size_t> ScreenLines() {
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_row == 0) return std::nullopt;
  return size.ws_row;
}

int ScreenColumns() {
  winsize size{};
  return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

PagerOutput::~PagerOutput() { (void)Wait().ok(); }

Status PagerOutput::WriteThrough(std::string_view bytes) {
  if (is_direct_) return WriteAll(STDOUT_FILENO, bytes, kTerminal);
  if (child_ != 0) return WriteAll(pipe_, bytes, "the pager");
  held_ += bytes;
  held_lines_ += static_cast<size_t>(std::count(bytes.begin(), bytes.end(), '\n'));
  const bool is_wide = HasWideLine();
  return held_lines_ < screen_lines_ && !is_wide ? Status(Done{}) : Start(is_wide);
}

bool PagerOutput::HasWideLine() {
  if (screen_columns_ == 0) return false;
  for (size_t end = held_.find('\n', measured_bytes_); end != std::string::npos;
       end = held_.find('\n', measured_bytes_)) {
    const std::string_view line =
        std::string_view(held_).substr(measured_bytes_, end - measured_bytes_);
    if (WidthWithoutColors(line) > screen_columns_) return true;
    measured_bytes_ = end + 1;
  }
  return false;
}

Status PagerOutput::Start(bool is_wide) {
  // With F less would show the beginnings of wide lines, and end.
  const char* const options = is_wide && held_lines_ < screen_lines_ ? "RSX" : "FRSX";
  std::vector<std::string> command = pager_.command;
  if (command == kLess) command = {"less", std::string("-") + options};
  setenv("LESS", options, 0);  // of a `less` that $PAGER names; what somebody set stays
  std::array<int, 2> ends{};
  int code = pipe2(ends.data(), O_CLOEXEC) == 0 ? 0 : errno;
  if (code == 0) {
    code = Spawn(command, ends[0], child_);
    close(ends[0]);
    if (code == 0) {
      pipe_ = ends[1];
    } else {
      close(ends[1]);
      child_ = 0;
    }
  }
  is_direct_ = code != 0;
  const std::string held = std::exchange(held_, {});
  return is_direct_ ? WriteAll(STDOUT_FILENO, held, kTerminal) : WriteAll(pipe_, held, "the pager");
}

Status PagerOutput::Wait() {
  if (child_ == 0) return Done{};
  close(pipe_);
  const InterruptsLeftAlone left_alone;
  int status = 0;
  while (waitpid(child_, &status, 0) < 0 && errno == EINTR) {
  }
  child_ = 0;
  if (WIFEXITED(status) && WEXITSTATUS(status) == kNotFound) {
    return Error{ErrorKind::kOutput,
                 fmt::format("the pager '{}' cannot be started", pager_.command.back()),
                 "set PAGER to another, or write --no-pager"};
  }
  return Done{};
}

Status PagerOutput::Finish() {
  Status written = Flush();
  if (child_ == 0 && written.ok() && !held_.empty()) {
    written = WriteAll(STDOUT_FILENO, std::exchange(held_, {}), kTerminal);
  }
  TRACEDB_TRY(Wait());
  return written;
}

}  // namespace tracedb
