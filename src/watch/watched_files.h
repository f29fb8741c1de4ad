// What is known of the files of a watched folder: which have changed since they were last tried,
// and which of these rest.
//
// A file is tried when a writer has closed it, when it was renamed into place, or when it has not
// changed for two seconds. One that breaks off is tried again when it has changed, and taken as it
// is when it has not for long: its writer is gone.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "tracedb/ingest/read/input_files.h"
#include "tracedb/watch/watch_command.h"

namespace tracedb {

class WatchedFiles {
 public:
  using Time = std::chrono::steady_clock::time_point;
  using Duration = std::chrono::steady_clock::duration;

  // `rest`: how long a file must not have changed that no writer was seen to close.
  WatchedFiles(Duration rest, Duration settle) : rest_(rest), settle_(settle) {}

  // The files that are there now; those that are not any more are forgotten.
  void Look(const std::vector<InputFile>& files, const std::set<std::filesystem::path>& closed,
            Time now);

  struct Ready {
    std::vector<InputFile> whole;   // to be loaded if they are whole
    std::vector<InputFile> as_are;  // to be loaded whole or not
  };
  // At most `most` files, in the order of their names.
  Ready TakeReady(size_t most, Time now);
  void Tried(const std::filesystem::path& path, FileOutcome outcome, Time now);
  // When the next file may be ready if nothing happens; none: no file waits.
  std::optional<Time> NextTime() const;
  // The files that break off, as far as they were tried.
  std::vector<std::filesystem::path> Unfinished() const;
  // Of the file as it was looked at.
  uint64_t BytesOf(const std::filesystem::path& path) const;

 private:
  struct Identity {
    uint64_t device = 0, inode = 0, bytes = 0;
    int64_t modified_ns = 0, changed_ns = 0;
    bool operator==(const Identity&) const = default;
  };
  struct State {
    InputFile file;
    Identity identity;
    Time changed;                // it, as far as was seen
    Time not_before;             // of the next try
    bool is_closed = false;      // since it changed
    bool is_tried = false;       // as it is now
    bool is_unfinished = false;  // it was tried, and breaks off
    bool is_source = false;
    int failures = 0;  // one after the other
    uint64_t look = 0;
  };

  Time DueTime(const State& state) const;

  Duration rest_;
  Duration settle_;
  std::map<std::filesystem::path, State> files_;
  uint64_t looks_ = 0;
};

}  // namespace tracedb
