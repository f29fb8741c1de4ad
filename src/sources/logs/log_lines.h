// The lines of a training log, one after the other, become rows.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sources/logs/log_arguments.h"
#include "sources/logs/log_messages.h"
#include "sources/logs/log_rows.h"
#include "sources/logs/log_timers.h"

namespace tracedb {

class LogLines {
 public:
  LogLines(SourceRows& source, LogRows& rows)
      : source_(source),
        rows_(rows),
        timers_(rows, source.issues),
        arguments_(rows, source.issues) {}

  // `raw` is the line `number` at `offset`; `was_cut`: it is the beginning of a longer one.
  Status Take(std::string_view raw, uint64_t number, uint64_t offset, bool was_cut);
  Status End();

 private:
  Status TakePiece(std::string_view piece, bool may_have_controls);
  Status TakeLine(std::string_view piece, bool may_have_controls);
  // The fields of `text`, into pairs_; false: they are not all of the line, which is counted.
  bool ReadFields(const LogLine& line, std::string_view text, bool wants_final_bar);
  LogPlace PlaceOf(const LogLine& line);
  int64_t UnixNs(const LogStamp& stamp);
  Result<bool> TakeBars(const LogLine& line, LogPlace place);
  Status TakeIteration(const LogLine& line, LogPlace place, const LogHead& head,
                       std::string_view fields);
  Result<bool> TakeNamedIteration(const LogLine& line, LogPlace place);
  Result<bool> TakeNamedPairs(LogPlace place);
  Status TakeEvaluation(const LogLine& line, LogPlace place);
  Status TakeMemory(const LogLine& line, LogPlace place, std::string_view fields);
  Status TakeStragglers(const LogLine& line, const LogPlace& place);
  Result<bool> TakeNoBars(const LogLine& line, const LogPlace& place);
  Result<bool> TakeEvent(const LogLine& line, const LogPlace& place);
  Result<bool> TakeUsedMemory(const LogLine& line, const LogPlace& place);
  Result<bool> TakeSeconds(const LogLine& line, LogPlace place);
  Result<bool> TakeSetting(const LogLine& line, const LogPlace& place);
  Result<bool> TakeBottomRanks(const LogLine& line, const LogPlace& place);

  SourceRows& source_;
  LogRows& rows_;
  LogLineCleaner cleaner_;
  LogTimerBlocks timers_;
  LogArguments arguments_;
  LogMessages messages_;
  uint64_t number_ = 0, offset_ = 0;
  std::optional<int64_t> iteration_, last_ns_;
  bool has_zone_ = false, has_local_time_ = false;
  bool has_final_bars_ = false;  // a line of fields ended in one: all do
  int settings_left_ = 0;        // lines in which a block of settings may go on
  std::vector<LogPair> pairs_;
  std::string foreign_;  // what stood after a line's last bar: another writer's line
};

}  // namespace tracedb
