#include "watch/watched_files.h"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "tracedb/base/file_bytes.h"

namespace tracedb {
namespace {

namespace fs = std::filesystem;
using std::chrono::seconds;

// A file that grows in bursts is read again and again: ever more rarely.
constexpr seconds kRetryMin{2};
constexpr seconds kRetryMax{60};
constexpr int kDoublingsMax = 5;
// A log is read whole each time that it has grown.
constexpr seconds kSourceRetry{60};

int64_t NsOf(const timespec& time) { return int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec; }

std::chrono::nanoseconds Realtime() { return std::chrono::system_clock::now().time_since_epoch(); }

// Whether it begins as JSON and ends before its last bracket. Of a packed file its packing tells,
// and logs, which may begin with a bracket as well, are named otherwise.
bool IsOpenJson(const fs::path& path) {
  constexpr std::string_view kBlanks = " \t\r\n";
  constexpr int64_t kTailBytes = 4096;
  std::array<char, kTailBytes> piece{};
  const auto read = [&](int64_t at) {
    return std::string_view(piece.data(), ReadFileAt(path, at, piece).value_or(0));
  };
  int64_t at = 0;
  std::string_view text = read(at);
  while (!text.empty() && text.find_first_not_of(kBlanks) == text.npos) {
    at += static_cast<int64_t>(text.size());
    text = read(at);
  }
  const size_t first = text.find_first_not_of(kBlanks);
  if (first == text.npos || (text[first] != '{' && text[first] != '[')) return false;
  std::error_code gone;
  const uintmax_t bytes = fs::file_size(path, gone);
  if (gone) return false;
  text = read(std::max<int64_t>(static_cast<int64_t>(bytes) - kTailBytes, 0));
  const size_t last = text.find_last_not_of(kBlanks);
  return last != text.npos && text[last] != '}' && text[last] != ']';
}

}  // namespace

void WatchedFiles::Look(const std::vector<InputFile>& files, const std::set<fs::path>& closed,
                        Time now) {
  ++looks_;
  for (const InputFile& file : files) {
    struct stat status {};
    if (stat(file.path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) continue;
    const Identity identity{status.st_dev, status.st_ino, static_cast<uint64_t>(status.st_size),
                            NsOf(status.st_mtim), NsOf(status.st_ctim)};
    auto [at, is_new] = files_.try_emplace(file.path, State{file, identity, {}, {}});
    State& state = at->second;
    state.look = looks_;
    if (is_new) {
      const std::chrono::nanoseconds age =
          Realtime() - std::chrono::nanoseconds(identity.changed_ns);
      state.changed = now - std::max(age, std::chrono::nanoseconds(0));
    } else if (!(state.identity == identity)) {
      state.identity = identity;
      state.changed = now;
      state.is_closed = false;
      state.is_tried = false;
      state.is_unfinished = false;
    }
    if (closed.contains(file.path)) state.is_closed = true;
  }
  std::erase_if(files_, [&](const auto& entry) { return entry.second.look != looks_; });
}

WatchedFiles::Time WatchedFiles::DueTime(const State& state) const {
  if (state.is_tried) {
    return state.is_unfinished ? state.changed + settle_ : Time::max();
  }
  return std::max(state.is_closed ? state.changed : state.changed + rest_, state.not_before);
}

WatchedFiles::Ready WatchedFiles::TakeReady(size_t most, Time now) {
  Ready ready;
  for (auto& [path, state] : files_) {
    if (ready.whole.size() + ready.as_are.size() >= most) break;
    if (DueTime(state) > now) continue;
    const bool is_settled = now - state.changed >= settle_;
    if (is_settled) {
      ready.as_are.push_back(state.file);
    } else if (state.file.is_named_like_trace && IsOpenJson(path)) {
      Tried(path, FileOutcome::kUnfinished, now);
    } else {
      ready.whole.push_back(state.file);
    }
  }
  return ready;
}

void WatchedFiles::Tried(const fs::path& path, FileOutcome outcome, Time now) {
  const auto found = files_.find(path);
  if (found == files_.end()) return;
  State& state = found->second;
  state.is_tried = true;
  state.is_unfinished = outcome == FileOutcome::kUnfinished;
  state.is_source = outcome == FileOutcome::kSource;
  const bool failed = state.is_unfinished || outcome == FileOutcome::kPassedOver;
  state.failures = failed ? std::min(state.failures + 1, kDoublingsMax) : 0;
  Duration pause = std::min<Duration>(kRetryMin * (1 << state.failures), kRetryMax);
  if (state.is_source) pause = kSourceRetry;
  state.not_before = failed || state.is_source ? now + pause : now;
}

std::optional<WatchedFiles::Time> WatchedFiles::NextTime() const {
  Time next = Time::max();
  for (const auto& [path, state] : files_) next = std::min(next, DueTime(state));
  return next == Time::max() ? std::nullopt : std::optional(next);
}

std::vector<fs::path> WatchedFiles::Unfinished() const {
  std::vector<fs::path> paths;
  for (const auto& [path, state] : files_) {
    if (state.is_unfinished) paths.push_back(path);
  }
  return paths;
}

uint64_t WatchedFiles::BytesOf(const fs::path& path) const {
  const auto found = files_.find(path);
  return found == files_.end() ? 0 : found->second.identity.bytes;
}

}  // namespace tracedb
