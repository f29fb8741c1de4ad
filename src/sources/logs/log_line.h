// A line of a training log without what launchers, loggers and terminals put around it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "sources/logs/log_time.h"
#include "sources/read/text_words.h"

namespace tracedb {

// "6: [Rank 6] [2025-05-27 15:23:07] iteration ..." is the text "iteration ..." of the writer "6"
// and of rank 6. Views last as long as the line that was read, and until the next one is cleaned.
struct LogLine {
  std::string_view whole;         // without colours, with the prefixes
  std::string_view text;          // without prefixes and blanks around it
  std::string_view writer;        // "6" of srun -l, "default0" of torchrun, "host 0": else empty
  std::optional<int64_t> rank;    // of [Rank 6] and [rank6] alone: the others count other things
  std::string_view level;         // INFO, WARNING, ERROR as a logger says it
  std::optional<LogStamp> stamp;  // in front of the text
  // In the text, for what each line is asked: the first of each; npos: there is none.
  size_t colon = std::string_view::npos, bar = std::string_view::npos;
  bool has_place = false;  // [timer.py:198:stop] stood in front
  bool is_indented = false;

  // Of two the one that has a zone, else the one nearer to the text.
  void TakeStamp(const LogStamp& taken) {
    if (!stamp || !stamp->has_zone || taken.has_zone) stamp = taken;
  }
};

// "worker-3: " of pdsh, before anything. A word in front of a colon may be anything: it is known
// for a machine once it stood before a line that begins with a date in brackets, or before one
// that only a training program begins with.
class LogMachines {
 public:
  bool Take(std::string_view& text, LogLine& line);

 private:
  static constexpr size_t kMachinesMax = 16384;
  std::set<std::string, std::less<>> known_;
};

class LogLineCleaner {
 public:
  // A line or a piece of one between carriage returns. `may_have_controls`: see FindControl().
  LogLine Clean(std::string_view raw, bool may_have_controls = true);

 private:
  std::string_view WithoutColours(std::string_view raw);
  bool TakePrefix(std::string_view& text, LogLine& line);
  // Docker Compose puts a name before each line: none in so many, and it is looked for no longer.
  static constexpr int kLinesWithoutNameMax = 256;

  std::string plain_;  // of a line that held escape sequences or NULs
  LogMachines machines_;
  int lines_without_name_ = 0;
};

// Where from `at` on the first byte below ' ' stands: a tab, a carriage return, a colour, NUL. The
// text's size: there is none.
size_t FindControl(std::string_view text, size_t at);
// Reads an unsigned number of up to 18 digits with which `text` begins, and takes it off.
std::optional<int64_t> TakeLogNumber(std::string_view& text);
// The next word between blanks, taken off `text` with the blanks around it.
std::string_view TakeLogWord(std::string_view& text);

}  // namespace tracedb
