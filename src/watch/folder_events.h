// Says when something has happened in a folder or below it (inotify). Not what: who is told looks.
#pragma once

#include <atomic>
#include <chrono>
#include <filesystem>
#include <functional>
#include <map>
#include <set>
#include <string>

namespace tracedb {

class FolderEvents {
 public:
  // Where the system gives no inotify, or no more of it, `on_note` is told once; Wait() then only
  // waits.
  explicit FolderEvents(std::function<void(const std::string&)> on_note);
  ~FolderEvents();
  FolderEvents(const FolderEvents&) = delete;
  FolderEvents& operator=(const FolderEvents&) = delete;

  // To be called before each look at the files: folders that are new are followed from now on.
  void Follow(const std::filesystem::path& folder);
  // Returns when something has happened, `time` has passed or `stop` is true.
  void Wait(std::chrono::milliseconds time, const std::atomic<bool>& stop);
  // Lets events come together, which seldom come alone.
  static void Rest(std::chrono::milliseconds time);
  // The files that were closed after writing, or were renamed into place, since the last call.
  std::set<std::filesystem::path> TakeClosed();

 private:
  bool FollowOne(const std::filesystem::path& folder);
  bool ReadEvents();
  void GiveUp(const std::string& why);

  std::function<void(const std::string&)> on_note_;
  int file_ = -1;
  std::map<int, std::filesystem::path> folders_;  // by watch descriptor
  std::set<std::filesystem::path> closed_;
  bool has_given_up_ = false;
};

}  // namespace tracedb
