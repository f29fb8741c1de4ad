// What a command is at, in one line of a terminal that is written over as the work goes on. Nothing
// where standard error is no terminal, or with --quiet.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>

#include "cli_options.h"

namespace tracedb {

struct WorkDone {
  std::string what;         // "rank3.json.gz", "check kernels_top"
  std::string of = {};      // "file 3 of 8", "check 12 of 60"; may be empty
  uint64_t done = 0;        // in any unit; with all: the share
  uint64_t all = 0;         // 0: nobody knows
  uint64_t text_bytes = 0;  // unpacked; 0: bytes are not what is counted
  uint64_t events = 0;
  std::string task = {};  // its time is counted; empty: `what` is it
};

// At most `width` columns: what matters least goes first.
std::string ProgressText(const WorkDone& work, double seconds, size_t width);

// "1.2 GB", "340 kB": powers of ten.
std::string BytesText(uint64_t bytes);
// "1,234,567"
std::string GroupedText(uint64_t number);

// Any thread may say how far the work is. What others write to standard error stands in lines of
// its own (WriteToStderr sees to it).
class ProgressLine {
 public:
  explicit ProgressLine(const GlobalOptions& global);
  ~ProgressLine();  // the line goes
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  // The time is counted from the first call of a task.
  void Show(WorkDone work);
  // Takes the line out until the next Show: something else is written meanwhile.
  void Hide();

 private:
  void DrawNowAndThen();

  const bool is_shown_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_over_ = false;
  bool has_work_ = false;
  WorkDone work_;
  std::chrono::steady_clock::time_point begun_;
  std::thread drawing_;
};

}  // namespace tracedb
