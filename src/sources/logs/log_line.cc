#include "sources/logs/log_line.h"

#include <algorithm>
#include <cstring>

#include "sources/logs/log_launchers.h"

namespace tracedb {
namespace {

constexpr size_t kBracketBytesMax = 80;

bool IsBlank(char c) { return c == ' ' || c == '\t'; }
bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsWordChar(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || IsDigit(c) || c == '_' || c == '.';
}

void SkipBlanks(std::string_view& text) {
  while (!text.empty() && IsBlank(text.front())) text.remove_prefix(1);
}

// "rank0", "Rank 6", "rank: 6", "RANK 6".
std::optional<int64_t> RankOf(std::string_view inner) {
  if (!inner.starts_with("rank") && !inner.starts_with("Rank") && !inner.starts_with("RANK")) {
    return std::nullopt;
  }
  inner.remove_prefix(4);
  if (inner.starts_with(':')) inner.remove_prefix(1);
  SkipBlanks(inner);
  const std::optional<int64_t> rank = TakeLogNumber(inner);
  return inner.empty() ? rank : std::nullopt;
}

// "default0", as torchrun names a worker.
bool IsWorker(std::string_view inner) {
  size_t letters = 0;
  while (letters < inner.size() && inner[letters] >= 'a' && inner[letters] <= 'z') ++letters;
  return letters > 0 && letters < inner.size() &&
         std::all_of(inner.begin() + static_cast<std::ptrdiff_t>(letters), inner.end(), IsDigit);
}

// "runner.py:415:main", or "W1122 00:50:11.318148372 ProcessGroupNCCL.cpp:5188".
bool IsPlace(std::string_view inner) {
  return inner.find(".py:") != std::string_view::npos ||
         inner.find(".cpp:") != std::string_view::npos;
}

// What stands in brackets at the beginning of `text`; false: it is of the text itself.
bool TakeBracket(std::string_view& text, LogLine& line) {
  const size_t close = text.substr(0, kBracketBytesMax).find(']');
  if (close == std::string_view::npos || close < 2) return false;
  const std::string_view inner = text.substr(1, close - 1);
  size_t length = 0;
  if (IsDigit(inner.front())) {
    const std::optional<LogStamp> stamp = ReadLogStamp(inner, length);
    if (!stamp || length != inner.size()) return TakeLauncherBracket(text, close, line);
    line.TakeStamp(*stamp);
  } else if (const std::optional<int64_t> rank = RankOf(inner)) {
    line.rank = rank;
  } else if (IsLogLevel(inner)) {
    line.level = inner;
  } else if (IsPlace(inner)) {
    line.has_place = true;
    if (inner.front() == 'W') line.level = "WARNING";
    if (inner.front() == 'E' || inner.front() == 'F') line.level = "ERROR";
  } else if (IsWorker(inner)) {
    line.writer = inner;
  } else {
    return TakeLauncherBracket(text, close, line);
  }
  text.remove_prefix(close + 1);
  if (text.starts_with(':')) text.remove_prefix(1);
  return true;
}

// "11/22/2026 00:50:18 " of Python's loggers in America: which is the month is not said.
bool TakeSlashDate(std::string_view& text) {
  constexpr std::string_view kForm = "dd/dd/dddd dd:dd:dd ";
  if (text.size() < kForm.size()) return false;
  for (size_t i = 0; i < kForm.size(); ++i) {
    if (kForm[i] == 'd' ? !IsDigit(text[i]) : text[i] != kForm[i]) return false;
  }
  text.remove_prefix(kForm.size());
  return true;
}

// "6: " of srun -l, "2024-05-01 10:00:00,123 ".
bool TakeDigits(std::string_view& text, LogLine& line) {
  size_t digits = 0;
  while (digits < text.size() && digits <= 6 && IsDigit(text[digits])) ++digits;
  if (digits <= 6 && digits + 1 < text.size() && text[digits] == ':' && text[digits + 1] == ' ') {
    if (line.stamp) return false;
    line.writer = text.substr(0, digits);
    text.remove_prefix(digits + 1);
    return true;
  }
  size_t length = 0;
  const std::optional<LogStamp> stamp = ReadLogStamp(text, length);
  if (!stamp) return TakeSlashDate(text);
  if (length < text.size() && !IsBlank(text[length])) return false;
  line.TakeStamp(*stamp);
  text.remove_prefix(length);
  TakeBehindStamp(text, line);
  return true;
}

// "INFO:megatron.core.timers:", "host 0: ".
bool TakeWords(std::string_view& text, LogLine& line) {
  if (text.starts_with("host ")) {
    std::string_view rest = text.substr(5);
    if (!TakeLogNumber(rest) || !rest.starts_with(": ")) return false;
    line.writer = text.substr(0, text.size() - rest.size());
    text = rest.substr(2);
    return true;
  }
  size_t end = 0;
  while (end < text.size() && end < 9 && text[end] >= 'A' && text[end] <= 'Z') ++end;
  if (end < 4 || end == text.size() || text[end] != ':' || !IsLogLevel(text.substr(0, end))) {
    return false;
  }
  size_t logger = end + 1;
  while (logger < text.size() && IsWordChar(text[logger])) ++logger;
  if (logger == end + 1 || logger == text.size() || text[logger] != ':') return false;
  line.level = text.substr(0, end);
  text.remove_prefix(logger + 1);
  return true;
}

// "(TrainActor pid=4711, ip=10.0.0.2) ", as Ray writes it.
bool TakeRound(std::string_view& text, LogLine& line) {
  const size_t close = text.substr(0, kBracketBytesMax).find(") ");
  if (close == std::string_view::npos ||
      text.substr(0, close).find(" pid=") == std::string_view::npos) {
    return false;
  }
  line.writer = text.substr(1, close - 1);
  text.remove_prefix(close + 1);
  return true;
}

}  // namespace

size_t FindControl(std::string_view text, size_t at) {
  // Of eight bytes the sign bits of those below ' '; one of a greater byte may be set as well,
  // above such a byte only.
  const auto controls_at = [&text](size_t from) {
    constexpr uint64_t kEach = 0x0101010101010101;
    uint64_t word;
    std::memcpy(&word, text.data() + from, sizeof word);
    return (word - kEach * ' ') & ~word & (kEach << 7);
  };
  constexpr size_t kBlock = 32;
  while (at + kBlock <= text.size() && (controls_at(at) | controls_at(at + 8) |
                                        controls_at(at + 16) | controls_at(at + 24)) == 0) {
    at += kBlock;
  }
  while (at + 8 <= text.size() && controls_at(at) == 0) at += 8;
  while (at < text.size() && static_cast<unsigned char>(text[at]) >= ' ') ++at;
  return at;
}

std::optional<int64_t> TakeLogNumber(std::string_view& text) {
  constexpr size_t kDigitsMax = 18;
  size_t digits = 0;
  int64_t value = 0;
  for (; digits < text.size() && IsDigit(text[digits]); ++digits) {
    if (digits == kDigitsMax) return std::nullopt;
    value = value * 10 + (text[digits] - '0');
  }
  if (digits == 0) return std::nullopt;
  text.remove_prefix(digits);
  return value;
}

std::string_view TakeLogWord(std::string_view& text) {
  SkipBlanks(text);
  size_t end = 0;
  while (end < text.size() && !IsBlank(text[end])) ++end;
  const std::string_view word = text.substr(0, end);
  text.remove_prefix(end);
  SkipBlanks(text);
  return word;
}

// Escape sequences end with a letter ("ESC[92m"), titles of a terminal with BEL.
std::string_view LogLineCleaner::WithoutColours(std::string_view raw) {
  size_t control = FindControl(raw, 0);
  if (control == raw.size()) return raw;
  plain_.clear();
  size_t taken = 0;  // of raw
  while (control < raw.size()) {
    const size_t from = control + 1;
    size_t next = from;
    if (raw[control] == '\0' || raw[control] == '\x1b') {
      plain_.append(raw, taken, control - taken);
      if (raw[control] == '\x1b' && raw.substr(from).starts_with('[')) {
        ++next;
        while (next < raw.size() && (raw[next] < '@' || raw[next] > '~')) ++next;
        next = std::min(next + 1, raw.size());
      }
      taken = next;
    }
    control = FindControl(raw, next);
  }
  return plain_.append(raw, taken);
}

bool LogLineCleaner::TakePrefix(std::string_view& text, LogLine& line) {
  if (text.empty()) return false;
  const char first = text.front();
  if (first == '[') return TakeBracket(text, line);
  const bool is_begin = text.data() == line.whole.data();
  if (is_begin && machines_.Take(text, line)) return true;
  if (IsDigit(first)) return TakeDigits(text, line);
  if (first == '(') return TakeRound(text, line);
  if (first == 'h' || (first >= 'A' && first <= 'Z')) {
    if (TakeWords(text, line) || TakeSyslog(text, line) || TakeGlog(text, line)) return true;
  }
  if (!is_begin || lines_without_name_ == kLinesWithoutNameMax) return false;
  if (TakeComposeName(text, line)) return true;
  ++lines_without_name_;
  return false;
}

LogLine LogLineCleaner::Clean(std::string_view raw, bool may_have_controls) {
  LogLine line;
  line.whole = may_have_controls ? WithoutColours(raw) : raw;
  std::string_view text = line.whole;
  line.is_indented = !text.empty() && IsBlank(text.front());
  SkipBlanks(text);
  constexpr int kPrefixesMax = 8;
  for (int i = 0; i < kPrefixesMax && TakePrefix(text, line); ++i) {
    line.is_indented = !text.empty() && IsBlank(text.front());
    SkipBlanks(text);
    if (!line.level.empty()) continue;
    const std::string_view word = text.substr(0, text.find(' '));
    if (line.stamp && IsLogLevel(word) && word.size() < text.size()) {  // "<date> INFO text"
      line.level = word;
      text.remove_prefix(word.size() + 1);
      if (text.starts_with("- ")) text.remove_prefix(2);
    }
  }
  line.text = TrimBlanks(text);
  line.colon = line.text.find(':');
  line.bar = line.text.find('|');
  return line;
}

}  // namespace tracedb
