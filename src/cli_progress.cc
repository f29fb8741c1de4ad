#include "cli_progress.h"

#include <unistd.h>

#include <cstdio>
#include <utility>

#include "cli_commands.h"
#include "tracedb/text/result_text.h"
#include "tracedb/text/terminal_text.h"

namespace tracedb {
namespace {

using Clock = std::chrono::steady_clock;

constexpr size_t kWidthDefault = 80;
// What is over sooner needs no line.
constexpr auto kFirstAfter = std::chrono::milliseconds(300);
constexpr auto kEach = std::chrono::milliseconds(100);

std::mutex stderr_mutex;
bool is_line_drawn = false;  // guarded by stderr_mutex

void WriteBytes(std::string_view text) {
  const size_t written = std::fwrite(text.data(), 1, text.size(), stderr);
  (void)written;
  std::fflush(stderr);
}

void ClearLine() {
  if (std::exchange(is_line_drawn, false)) WriteBytes("\r\033[K");
}

// One column less: a terminal goes to the next line when its last one is written.
size_t TerminalWidth() {
  const size_t columns = TerminalColumns(STDERR_FILENO);
  return (columns > 0 ? columns : kWidthDefault) - 1;
}

}  // namespace

std::string ShownLines(std::string_view text) {
  std::string shown;
  for (;;) {
    const size_t end = text.find('\n');
    shown += ShownText(text.substr(0, end));
    if (end == std::string_view::npos) return shown;
    shown += '\n';
    text.remove_prefix(end + 1);
  }
}

void WriteToStderr(const std::string& text) {
  const std::lock_guard lock(stderr_mutex);
  ClearLine();
  WriteBytes(text);
}

ProgressLine::ProgressLine(const GlobalOptions& global)
    : is_shown_(!global.quiet && isatty(STDERR_FILENO) == 1) {}

ProgressLine::~ProgressLine() {
  {
    const std::lock_guard lock(mutex_);
    is_over_ = true;
  }
  changed_.notify_all();
  if (drawing_.joinable()) drawing_.join();
  Hide();
}

void ProgressLine::Show(WorkDone work) {
  if (!is_shown_) return;
  const std::lock_guard lock(mutex_);
  if (work.task.empty()) work.task = work.what;
  if (!has_work_ || work.task != work_.task) begun_ = Clock::now();
  has_work_ = true;
  work_ = std::move(work);
  if (!drawing_.joinable()) drawing_ = std::thread([this] { DrawNowAndThen(); });
}

void ProgressLine::Hide() {
  if (!is_shown_) return;
  const std::lock_guard lock(mutex_);
  has_work_ = false;
  const std::lock_guard written(stderr_mutex);
  ClearLine();
}

void ProgressLine::DrawNowAndThen() {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, kFirstAfter, [this] { return is_over_; });
  while (!is_over_) {
    if (has_work_) {
      const double seconds = std::chrono::duration<double>(Clock::now() - begun_).count();
      const std::string line = ProgressText(work_, seconds, TerminalWidth());
      const std::lock_guard written(stderr_mutex);
      WriteBytes("\r\033[K" + line);
      is_line_drawn = true;
    }
    changed_.wait_for(lock, kEach, [this] { return is_over_; });
  }
}

}  // namespace tracedb
