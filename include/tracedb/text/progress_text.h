// How far a piece of work is, as a line for a person; sizes and counts as people read them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace tracedb {

struct WorkDone {
  std::string what;         // "rank3.json.gz", "check kernels_top"
  std::string of = {};      // "file 3 of 8", "check 12 of 60"; may be empty
  uint64_t done = 0;        // in any unit; with all: the share
  uint64_t all = 0;         // 0: nobody knows
  uint64_t text_bytes = 0;  // unpacked; 0: bytes are not what is counted
  uint64_t events = 0;
  std::string task = {};  // its time is counted; empty: `what` is it
  bool is_file = false;   // `what` is a path: its base name is shown, shortened in the middle
};

// At most `width` columns: what matters least goes first.
std::string ProgressText(const WorkDone& work, double seconds, size_t width);

// The last part of a path, as a terminal may show it, in at most `width` columns: "hta_con…n.gz".
std::string ShortFileName(std::string_view path, size_t width);

// "1.2 GB", "340 kB": powers of ten.
std::string BytesText(uint64_t bytes);
// "1,234,567"
std::string GroupedText(uint64_t number);

}  // namespace tracedb
