// The command watch: traces of a folder are loaded as they appear, and old ones leave the database.
//
//   look at the folder ──▶ what has changed and rests ──▶ load ──▶ expire ──▶ compare the ranks
//          ▲                                                                        │
//          └──────────── something happened there, or a while has passed ◀──────────┘
//
// The folder as it is when looked at is all that counts, and what the database has: inotify only
// says that it is time to look. So nothing is lost by a crash, by events that were dropped, or by a
// file system of several machines, where others' writes make no events.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "tracedb/base/result.h"
#include "tracedb/ingest/load/trace_load.h"
#include "tracedb/ingest/read/input_files.h"

namespace tracedb {

enum class FileOutcome {
  kTrace,       // its rows are in the database, now or before
  kSource,      // the same of a file that is no trace: it may grow
  kUnfinished,  // it breaks off
  kPassedOver,  // nothing that is read, or it cannot be read
};

// By the path of the file, in any order; a file without one was passed over.
struct LoadedFile {
  std::filesystem::path path;
  FileOutcome outcome;
};

struct ExpiredCapture {
  std::string run;
  int64_t capture = 0;  // its number in the run, when it was there
  int64_t traces = 0;
};

struct WatchOptions {
  std::filesystem::path folder;
  std::filesystem::path database;
  bool once = false;                  // take what is there, and end
  std::chrono::seconds every{30};     // look at least so often
  std::chrono::seconds settle{600};   // what breaks off is taken when it rests so long
  int64_t keep_bytes = 0;             // of the database, without free pages; 0: any
  std::chrono::seconds keep_time{0};  // how old a capture may be; 0: any
  // Loads files. With `whole_only` what breaks off stays out of the database.
  std::function<Result<std::vector<LoadedFile>>(std::vector<InputFile>, bool whole_only)> load;
  std::function<Status()> compare;  // all ranks, once traces have come or gone
  std::function<Status(const ExpiredCapture&)> on_expired;
  std::function<void(const std::string&)> on_note;
};

// Until `stop`, which is no error. An error: the folder is not there at the start, or the database
// cannot be written.
Status WatchFolder(const WatchOptions& options, const std::atomic<bool>& stop);

}  // namespace tracedb
