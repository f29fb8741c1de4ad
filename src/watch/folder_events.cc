#include "watch/folder_events.h"

#include <poll.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "tracedb/base/folder_entries.h"

namespace tracedb {
namespace {

namespace fs = std::filesystem;

constexpr size_t kFoldersMax = 100'000;
constexpr size_t kClosedMax = 1'000'000;
// Between two looks at `stop`: a signal that comes just before a waiting call would be lost.
constexpr std::chrono::milliseconds kSlice{200};
// Not each write: a file that grows is looked at when it should have come to rest.
constexpr uint32_t kEvents =
    IN_CLOSE_WRITE | IN_MOVED_TO | IN_CREATE | IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR;

}  // namespace

FolderEvents::FolderEvents(std::function<void(const std::string&)> on_note)
    : on_note_(std::move(on_note)), file_(inotify_init1(IN_NONBLOCK | IN_CLOEXEC)) {
  if (file_ < 0) GiveUp(std::string("no inotify: ") + std::strerror(errno));
}

FolderEvents::~FolderEvents() {
  if (file_ >= 0) close(file_);
}

void FolderEvents::GiveUp(const std::string& why) {
  if (!std::exchange(has_given_up_, true)) {
    on_note_(why + "; what is not followed is looked at now and then (--every)");
  }
}

// False: no more can be followed.
bool FolderEvents::FollowOne(const fs::path& folder) {
  const int watch = inotify_add_watch(file_, folder.c_str(), kEvents);
  if (watch >= 0) {
    folders_[watch] = folder;
    return true;
  }
  if (errno != ENOSPC && errno != ENOMEM) return true;  // it is gone, or closed to us
  GiveUp(folder.string() +
         ": the system's limit of folders to follow is reached "
         "(fs.inotify.max_user_watches)");
  return false;
}

void FolderEvents::Follow(const fs::path& folder) {
  if (file_ < 0) return;
  std::vector<fs::path> folders{folder};
  for (size_t i = 0; i < folders.size(); ++i) {
    if (i >= kFoldersMax) return GiveUp(folder.string() + ": more than 100,000 folders");
    if (!FollowOne(folders[i])) return;
    FolderEntries entries(folders[i]);  // it may be gone, or closed to us
    while (entries.Next()) {
      if (!entries.IsLink() && entries.IsFolder()) folders.push_back(entries.path());
    }
  }
}

bool FolderEvents::ReadEvents() {
  bool any = false;
  alignas(inotify_event) std::array<char, 64 * 1024> buffer;
  for (;;) {
    const ssize_t got = read(file_, buffer.data(), buffer.size());
    if (got <= 0) return any;
    any = true;
    for (size_t at = 0; at + sizeof(inotify_event) <= static_cast<size_t>(got);) {
      inotify_event event{};
      std::memcpy(&event, buffer.data() + at, sizeof event);
      const char* name = buffer.data() + at + sizeof event;
      at += sizeof event + event.len;
      if ((event.mask & IN_IGNORED) != 0) folders_.erase(event.wd);
      const auto folder = folders_.find(event.wd);
      const bool is_whole = (event.mask & (IN_CLOSE_WRITE | IN_MOVED_TO)) != 0;
      if (!is_whole || folder == folders_.end() || event.len == 0) continue;
      if (closed_.size() < kClosedMax) closed_.insert(folder->second / name);
    }
  }
}

void FolderEvents::Wait(std::chrono::milliseconds time, const std::atomic<bool>& stop) {
  const auto end = std::chrono::steady_clock::now() + time;
  while (!stop.load()) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        end - std::chrono::steady_clock::now());
    if (left <= std::chrono::milliseconds(0)) return;
    const auto slice = std::min(left, kSlice);
    if (file_ < 0) {
      std::this_thread::sleep_for(slice);
      continue;
    }
    pollfd waiting{file_, POLLIN, 0};
    if (poll(&waiting, 1, static_cast<int>(slice.count())) > 0 && ReadEvents()) return;
  }
}

void FolderEvents::Rest(std::chrono::milliseconds time) { std::this_thread::sleep_for(time); }

std::set<fs::path> FolderEvents::TakeClosed() {
  if (file_ >= 0) ReadEvents();
  return std::exchange(closed_, {});
}

}  // namespace tracedb
