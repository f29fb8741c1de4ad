// What a command is at, in one line of a terminal that is written over as the work goes on. Nothing
// where standard error is no terminal, or with --quiet.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "cli_options.h"
#include "tracedb/text/progress_text.h"

namespace tracedb {

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
