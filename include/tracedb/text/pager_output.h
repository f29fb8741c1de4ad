// Text for a person at a terminal: what fits the screen is written there, more of it goes to a
// pager.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tracedb/base/result.h"
#include "tracedb/text/output_stream.h"

namespace tracedb {

struct Pager {
  std::vector<std::string> command;  // a program that is there, and its arguments
};

// That of $PAGER, else `less -FRSX`. Nothing where the terminal can do nothing (TERM=dumb), $PAGER
// is empty, or there is no such program.
std::optional<Pager> FindPager();

// Lines of the terminal behind standard output; nothing where it does not say.
std::optional<size_t> ScreenLines();

// Characters of a line of that terminal; 0 where it does not say, or where it is none.
int ScreenColumns();

class PagerOutput : public OutputStream {
 public:
  // A line of more than `screen_columns` goes to the pager as well; 0: lines may be of any length.
  PagerOutput(Pager pager, size_t screen_lines, int screen_columns = 0)
      : pager_(std::move(pager)),
        screen_lines_(screen_lines),
        screen_columns_(static_cast<size_t>(screen_columns)) {}
  ~PagerOutput() override;
  PagerOutput(const PagerOutput&) = delete;
  PagerOutput& operator=(const PagerOutput&) = delete;

  // Writes what is left, and waits until the person has left the pager. Once. kClosed: that was
  // before all was written.
  Status Finish();

 protected:
  Status WriteThrough(std::string_view bytes) override;

 private:
  Status Start(bool is_wide);
  bool HasWideLine();
  Status Wait();

  const Pager pager_;
  const size_t screen_lines_;
  const size_t screen_columns_;
  std::string held_;  // until it is more than a screen
  size_t held_lines_ = 0;
  size_t measured_bytes_ = 0;  // of them, by HasWideLine
  bool is_direct_ = false;     // no pager can be started: to the terminal
  pid_t child_ = 0;            // 0: none
  int pipe_ = -1;
};

}  // namespace tracedb
