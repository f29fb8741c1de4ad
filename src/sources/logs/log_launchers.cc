#include "sources/logs/log_launchers.h"

#include <algorithm>
#include <cstring>

namespace tracedb {
namespace {

constexpr size_t kPrefixBytesMax = 96;
constexpr std::string_view kLevels[] = {"DEBUG", "INFO",  "WARNING",  "WARN",   "ERROR",
                                        "FATAL", "TRACE", "CRITICAL", "NOTICE", "SUCCESS"};

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool IsNameChar(char c) {
  return IsLetter(c) || IsDigit(c) || c == '_' || c == '.' || c == '-' || c == '/';
}
bool IsDigits(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), IsDigit);
}

std::string_view LevelOf(char letter) {
  switch (letter) {
    case 'W':
      return "WARNING";
    case 'E':
    case 'F':
      return "ERROR";
    default:
      return "INFO";
  }
}

// How long the name is that `text` begins with.
size_t NameLength(std::string_view text) {
  size_t length = 0;
  while (length < text.size() && length < kPrefixBytesMax && IsNameChar(text[length])) ++length;
  return length;
}

bool IsName(std::string_view text) { return NameLength(text) == text.size(); }

// Of `wanted`, where a prefix may have it; 0: nowhere, or at the beginning.
size_t PlaceOf(std::string_view text, char wanted) {
  const void* const found =
      std::memchr(text.data(), wanted, std::min(text.size(), kPrefixBytesMax));
  return found != nullptr ? static_cast<size_t>(static_cast<const char*>(found) - text.data()) : 0;
}

// "node7 torchrun[4711]: ", and without a process's number.
bool TakeMachineAndProcess(std::string_view& text, LogLine& line) {
  const size_t machine = NameLength(text);
  if (machine == 0 || machine == text.size() || text[machine] != ' ') return false;
  const size_t process = NameLength(text.substr(machine + 1));
  size_t end = machine + 1 + process;
  if (process == 0 || end == text.size()) return false;
  if (text[end] == '[') {
    const size_t close = text.find(']', end);
    if (close == std::string_view::npos || !IsDigits(text.substr(end + 1, close - end - 1))) {
      return false;
    }
    end = close + 1;
  }
  if (!text.substr(end).starts_with(": ")) return false;
  line.writer = text.substr(0, end);
  text.remove_prefix(end + 1);
  return true;
}

// "[NeMo I 2026-11-22 00:50:18 log:77]".
bool TakeNemo(std::string_view inner, LogLine& line) {
  if (inner.size() < 8 || inner[6] != ' ') return false;
  size_t length = 0;
  const std::optional<LogStamp> stamp = ReadLogStamp(inner.substr(7), length);
  if (!stamp) return false;
  line.TakeStamp(*stamp);
  line.level = LevelOf(inner[5]);
  line.has_place = true;
  return true;
}

// "[1,3]<stdout>:" of Open MPI, "[3] " of Hydra.
bool TakeNumbers(std::string_view inner, std::string_view& behind, LogLine& line) {
  const size_t comma = inner.find(',');
  if (comma != std::string_view::npos) {
    if (!IsDigits(inner.substr(0, comma)) || !IsDigits(inner.substr(comma + 1))) return false;
    for (const std::string_view stream : {"<stdout>:", "<stderr>:"}) {
      if (!behind.starts_with(stream)) continue;
      behind.remove_prefix(stream.size());
      line.writer = inner;
      return true;
    }
    return false;
  }
  constexpr size_t kDigitsMax = 6;
  const bool is_first = line.writer.empty() && line.level.empty() && !line.stamp && !line.has_place;
  if (!is_first || inner.size() > kDigitsMax || !IsDigits(inner) || !behind.starts_with(' ')) {
    return false;
  }
  line.writer = inner;
  return true;
}

// What a line begins with that has a machine's name in front.
bool IsBeginOfLine(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  size_t length = 0;
  if (text.starts_with('[')) return ReadLogStamp(text.substr(1), length).has_value();
  return text.starts_with("using world size: ") || text.starts_with("> ") ||
         (text.starts_with("-----") && text.find(" arguments -----") != std::string_view::npos);
}

}  // namespace

bool IsLogLevel(std::string_view word) {
  return std::find(std::begin(kLevels), std::end(kLevels), word) != std::end(kLevels);
}

bool TakeLauncherBracket(std::string_view& text, size_t close, LogLine& line) {
  const std::string_view inner = text.substr(1, close - 1);
  std::string_view behind = text.substr(close + 1);
  const size_t bar = inner.find('|');
  if (IsDigit(inner.front())) {
    if (!TakeNumbers(inner, behind, line)) return false;
  } else if (inner.starts_with("pod/")) {
    line.writer = inner;
  } else if (inner == "titan") {  // of torchtitan: whose line it is stands in front
  } else if (inner.starts_with("NeMo ")) {
    if (!TakeNemo(inner, line)) return false;
  } else if (bar != std::string_view::npos && IsLogLevel(inner.substr(0, bar))) {
    line.level = inner.substr(0, bar);  // "[INFO|DP=0|PP=0|TP=0|node7]:" of nanotron
    line.writer = inner.substr(bar + 1);
    if (behind.starts_with(':')) behind.remove_prefix(1);
  } else {
    return false;
  }
  text = behind;
  return true;
}

bool TakeSyslog(std::string_view& text, LogLine& line) {
  constexpr std::string_view kMonths[] = {"Jan ", "Feb ", "Mar ", "Apr ", "May ", "Jun ",
                                          "Jul ", "Aug ", "Sep ", "Oct ", "Nov ", "Dec "};
  constexpr size_t kDateBytes = 16;  // "Nov 22 00:50:19 "
  if (text.size() < kDateBytes || text[9] != ':' || text[12] != ':' || text[15] != ' ') {
    return false;
  }
  if (std::find(std::begin(kMonths), std::end(kMonths), text.substr(0, 4)) == std::end(kMonths)) {
    return false;
  }
  std::string_view rest = text.substr(kDateBytes);
  if (!TakeMachineAndProcess(rest, line)) return false;
  text = rest;
  return true;
}

bool TakeGlog(std::string_view& text, LogLine& line) {
  constexpr size_t kTimeBytes = 14;  // "I1122 00:50:19"
  if (text.size() < kTimeBytes || !IsDigits(text.substr(1, 4)) || text[5] != ' ' ||
      text[8] != ':' || text[11] != ':') {
    return false;
  }
  const size_t close = text.substr(0, kPrefixBytesMax).find("] ");
  if (close == std::string_view::npos) return false;
  const std::string_view place = text.substr(0, close);
  const size_t colon = place.rfind(':');
  if (place.find('.', kTimeBytes) == std::string_view::npos || !IsDigits(place.substr(colon + 1))) {
    return false;
  }
  line.level = LevelOf(text.front());
  line.has_place = true;
  text.remove_prefix(close + 1);
  return true;
}

// From the bar backwards, as most lines with a bar are told apart by what is in front of it.
bool TakeComposeName(std::string_view& text, LogLine& line) {
  const size_t bar = PlaceOf(text, '|');
  if (bar < 4 || text[bar - 1] != ' ' || !text.substr(bar).starts_with("| ")) return false;
  const std::string_view name = TrimBlanks(text.substr(0, bar));
  const size_t number = name.find_last_not_of("0123456789");
  if (number == std::string_view::npos || number == 0 || number + 1 == name.size()) return false;
  if ((name[number] != '-' && name[number] != '_') || !IsName(name)) return false;
  line.writer = name;
  text.remove_prefix(bar + 1);
  return true;
}

void TakeBehindStamp(std::string_view& text, LogLine& line) {
  for (const std::string_view stream : {" stdout F ", " stderr F ", " stdout P ", " stderr P "}) {
    if (!text.starts_with(stream)) continue;
    text.remove_prefix(stream.size() - 1);
    return;
  }
  if (text.starts_with(" - ")) {
    std::string_view rest = text.substr(3);
    text = rest;
    rest.remove_prefix(NameLength(rest));
    const size_t end = rest.starts_with(" - ") ? rest.find(" - ", 3) : std::string_view::npos;
    if (end == std::string_view::npos || !IsLogLevel(rest.substr(3, end - 3))) return;
    line.level = rest.substr(3, end - 3);
    text = rest.substr(end + 2);
    return;
  }
  if (text.starts_with(" | ")) {
    std::string_view rest = text.substr(3);
    const std::string_view level = TakeLogWord(rest);
    const size_t end = rest.substr(0, kPrefixBytesMax).find(" - ");
    if (!IsLogLevel(level) || !rest.starts_with("| ") || end == std::string_view::npos) return;
    line.level = level;
    line.has_place = true;
    text = rest.substr(end + 2);
    return;
  }
  if (!text.starts_with(' ') || line.has_place) return;
  std::string_view rest = text.substr(1);
  const std::string_view word = rest.substr(0, rest.find(' '));
  if (!IsLogLevel(word) && TakeMachineAndProcess(rest, line)) text = rest;
}

bool LogMachines::Take(std::string_view& text, LogLine& line) {
  const size_t colon = PlaceOf(text, ':');
  if (colon == 0 || colon + 2 >= text.size() || text[colon + 1] != ' ') return false;
  if (!IsDigit(text[colon - 1]) && !IsLetter(text[colon - 1])) return false;  // dots of a timer
  const std::string_view name = text.substr(0, colon);
  const bool is_machine = IsName(name) && std::any_of(name.begin(), name.end(), IsDigit);
  if (!is_machine || IsDigits(name)) return false;
  if (!known_.contains(name)) {
    if (known_.size() == kMachinesMax || !IsBeginOfLine(text.substr(colon + 2))) return false;
    known_.emplace(name);
  }
  line.writer = name;
  text.remove_prefix(colon + 2);
  return true;
}

}  // namespace tracedb
