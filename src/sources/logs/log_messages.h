// What a log says went wrong: of each kind the first and the last, how often, and the log's last
// lines.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "sources/logs/log_rows.h"

namespace tracedb {

class LogMessages {
 public:
  static constexpr size_t kKindsMax = 48;  // more exceptions than that are "other exception"
  static constexpr size_t kTextBytes = 500;
  static constexpr size_t kLastLines = 5;

  // A line that is no data, or is looked at besides.
  void Look(const LogLine& line, const LogPlace& place);
  // One of a kind that its caller has told.
  void Add(std::string_view kind, std::string_view text, const LogPlace& place);
  // Any line that is not empty.
  void SawLine(std::string_view whole, const LogPlace& place);
  Status Write(LogRows& rows) const;

 private:
  struct Kept {
    LogPlace place;  // its writer is below
    std::string writer, text;
    void Set(std::string_view new_text, const LogPlace& new_place);
  };
  struct Kind {
    uint64_t count = 0;
    Kept first, last;
  };
  static Status WriteKept(LogRows& rows, const Kept& kept, std::string_view kind,
                          std::string_view position, uint64_t count);

  std::map<std::string, Kind, std::less<>> kinds_;
  std::array<Kept, kLastLines> lasts_;
  uint64_t lines_ = 0;
};

}  // namespace tracedb
