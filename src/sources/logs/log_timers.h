// Megatron's timers as they stand in a log: blocks of lines under a header, or one line of fields.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sources/logs/log_rows.h"

namespace tracedb {

// Gathers the lines of a block until it ends; a row is written for a block (form kRanks: for a
// timer), so that a log of a gigabyte of timers is read in seconds.
class LogTimerBlocks {
 public:
  LogTimerBlocks(LogRows& rows, SourceIssues& issues) : rows_(rows), issues_(issues) {}

  // True: the line was a timer's, or a header. `place` is that of the line.
  Result<bool> Take(const LogLine& line, const LogPlace& place, uint64_t offset);
  // "time (ms) | forward-compute: 3170.80 | ...": `text` is what follows the first bar.
  Status TakeFields(std::string_view text, const LogPlace& place, uint64_t offset,
                    std::string_view whole);
  // The block ends: an iteration's line or the end of the log.
  Status End();
  bool is_open() const { return is_open_; }

 private:
  Status Begin(TimerForm form, const LogPlace& place);
  Result<bool> TakeTimer(std::string_view text);
  bool SplitTimer(std::string_view text, std::string_view& name, std::string_view& value);
  Result<bool> TakeRank(std::string_view text, uint64_t offset);
  Result<bool> TakeTimes(std::string_view text, const LogPlace& place, uint64_t offset);
  Status WriteTimes(const LogPlace& place, std::string_view ends, uint64_t offset);
  Status Write();
  Status CheckOrder(std::string_view first_name, uint64_t offset, std::string_view whole);

  LogRows& rows_;
  SourceIssues& issues_;
  bool is_open_ = false;
  LogPlace place_;      // of the header
  std::string writer_;  // place_.writer, for as long as the block
  uint64_t offset_ = 0;
  LogTimers timers_;
  // The lines of the last block, which those of the next one are like.
  struct KnownTimer {
    std::string head;  // "    forward-backward ...: "
    std::string name;
  };
  std::vector<KnownTimer> known_;
  size_t next_known_ = 0;                   // that the next line should be like
  std::optional<int64_t> rank_;             // of the last "rank  0: 123.45"
  std::string starts_name_, starts_;        // of "NAME start time lst:", until its ends come
  std::optional<int64_t> timed_iteration_;  // that has its timers
};

}  // namespace tracedb
