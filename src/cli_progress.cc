#include "cli_progress.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <utility>
#include <vector>

#include "cli_commands.h"
#include "tracedb/text/result_text.h"

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
  winsize size{};
  const bool is_known = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return (is_known ? size.ws_col : kWidthDefault) - 1;
}

std::string Bar(double share, size_t width) {
  const auto full = static_cast<size_t>(share * static_cast<double>(width));
  return "[" + std::string(full, '#') + std::string(width - full, '.') + "]";
}

std::string TimeLeft(double seconds) {
  const auto whole = static_cast<int64_t>(seconds + 0.5);
  if (whole < 60) return fmt::format("{} s left", whole);
  if (whole < 3600) return fmt::format("{} min {:02} s left", whole / 60, whole % 60);
  return fmt::format("{} h {:02} min left", whole / 3600, whole / 60 % 60);
}

}  // namespace

void WriteToStderr(const std::string& text) {
  const std::lock_guard lock(stderr_mutex);
  ClearLine();
  WriteBytes(text);
}

std::string BytesText(uint64_t bytes) {
  constexpr std::array<const char*, 5> kUnits = {"B", "kB", "MB", "GB", "TB"};
  auto size = static_cast<double>(bytes);
  size_t unit = 0;
  while (size >= 999.5 && unit + 1 < kUnits.size()) {
    size /= 1000;
    ++unit;
  }
  return unit == 0 || size >= 99.95 ? fmt::format("{:.0f} {}", size, kUnits[unit])
                                    : fmt::format("{:.1f} {}", size, kUnits[unit]);
}

std::string GroupedText(uint64_t number) {
  std::string digits = std::to_string(number);
  for (size_t at = digits.size(); at > 3; at -= 3) digits.insert(at - 3, ",");
  return digits;
}

std::string ProgressText(const WorkDone& work, double seconds, size_t width) {
  constexpr size_t kBarWidth = 20;
  struct Part {
    std::string text;
    int importance;  // the least goes first
  };
  std::vector<Part> parts;
  const std::string shown = ShownText(work.what);
  parts.push_back({work.of.empty() ? shown : work.of + ": " + shown, 9});
  if (work.all > 0) {
    const double share =
        std::min(1.0, static_cast<double>(work.done) / static_cast<double>(work.all));
    parts.push_back({Bar(share, kBarWidth), 4});
    parts.push_back({fmt::format("{:.0f} %", 100 * share), 8});
    if (share > 0.01 && seconds > 1) parts.push_back({TimeLeft(seconds * (1 / share - 1)), 7});
  }
  if (work.text_bytes > 0) {
    parts.push_back({BytesText(work.text_bytes), 3});
    if (work.events > 0) parts.push_back({GroupedText(work.events) + " events", 2});
    const double rate = static_cast<double>(work.text_bytes) / 1e6 / std::max(seconds, 1e-3);
    parts.push_back({fmt::format("{:.0f} MB/s", rate), 5});
  } else if (work.all == 0) {
    parts.push_back({fmt::format("{:.0f} s", seconds), 6});
  }
  for (;;) {
    std::string line;
    for (const Part& part : parts) line += (line.empty() ? "" : "  ") + part.text;
    if (DisplayWidth(line) <= width || parts.size() == 1) return CutToWidth(line, width);
    parts.erase(std::min_element(parts.begin(), parts.end(), [](const Part& a, const Part& b) {
      return a.importance < b.importance;
    }));
  }
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
