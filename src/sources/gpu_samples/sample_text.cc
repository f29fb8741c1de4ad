#include "sources/gpu_samples/sample_text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cmath>

namespace tracedb {
namespace {

constexpr int64_t kNsPerSecond = 1'000'000'000;

// A number of exactly so many digits at the front of `text`, which it is taken from.
std::optional<int> TakeDigits(std::string_view& text, size_t count) {
  if (text.size() < count) return std::nullopt;
  int value = 0;
  for (const char digit : text.substr(0, count)) {
    if (digit < '0' || digit > '9') return std::nullopt;
    value = value * 10 + (digit - '0');
  }
  text.remove_prefix(count);
  return value;
}

bool TakeChar(std::string_view& text, char wanted) {
  if (text.empty() || text.front() != wanted) return false;
  text.remove_prefix(1);
  return true;
}

std::optional<int64_t> MidnightOf(int year, int month, int day) {
  const std::chrono::year_month_day date{std::chrono::year{year},
                                         std::chrono::month{static_cast<unsigned>(month)},
                                         std::chrono::day{static_cast<unsigned>(day)}};
  if (!date.ok() || year < 1970 || year > 2200) return std::nullopt;
  const auto days = std::chrono::sys_days{date}.time_since_epoch().count();
  return int64_t{days} * 86'400 * kNsPerSecond;
}

// 13:48:11[.412], as much of `text` as that is.
std::optional<int64_t> TakeTimeOfDay(std::string_view& text) {
  const auto hour = TakeDigits(text, 2);
  if (!hour || *hour > 23 || !TakeChar(text, ':')) return std::nullopt;
  const auto minute = TakeDigits(text, 2);
  if (!minute || *minute > 59 || !TakeChar(text, ':')) return std::nullopt;
  const auto second = TakeDigits(text, 2);
  if (!second || *second > 60) return std::nullopt;
  int64_t ns = (int64_t{*hour} * 3600 + *minute * 60 + *second) * kNsPerSecond;
  if (!text.empty() && text.front() == '.') {
    text.remove_prefix(1);
    int64_t unit = kNsPerSecond / 10;
    while (!text.empty() && text.front() >= '0' && text.front() <= '9') {
      ns += (text.front() - '0') * unit;
      unit /= 10;
      text.remove_prefix(1);
    }
  }
  return ns;
}

std::optional<int64_t> MonthOf(std::string_view word) {
  constexpr std::array<std::string_view, 12> kMonths = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                        "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  const auto* month = std::find(kMonths.begin(), kMonths.end(), word);
  if (month == kMonths.end()) return std::nullopt;
  return month - kMonths.begin() + 1;
}

bool IsWeekday(std::string_view word) {
  constexpr std::array<std::string_view, 7> kDays = {"Mon", "Tue", "Wed", "Thu",
                                                     "Fri", "Sat", "Sun"};
  return std::find(kDays.begin(), kDays.end(), word) != kDays.end();
}

}  // namespace

std::string WithoutEscapes(std::string_view line) {
  constexpr char kEscape = '\x1b';
  std::string plain;
  for (size_t at = 0; at < line.size(); ++at) {
    if (line[at] != kEscape) {
      plain += line[at];
      continue;
    }
    if (at + 1 < line.size() && line[at + 1] == '[') {  // ESC [ ... letter
      at += 2;
      while (at < line.size() && !(line[at] >= '@' && line[at] <= '~')) ++at;
    } else {  // ESC ( B, and other pairs
      ++at;
      if (at < line.size() && line[at] == '(') ++at;
    }
  }
  return plain;
}

void SplitAt(std::string_view line, char separator, std::vector<std::string_view>& cells) {
  cells.clear();
  for (size_t begin = 0;;) {
    const size_t end = line.find(separator, begin);
    cells.push_back(TrimBlanks(line.substr(begin, end - begin)));
    if (end == std::string_view::npos) return;
    begin = end + 1;
  }
}

void SplitWords(std::string_view line, std::vector<std::string_view>& words) {
  constexpr std::string_view kBetween = " \t\r,";
  words.clear();
  for (size_t at = line.find_first_not_of(kBetween); at != std::string_view::npos;) {
    const size_t end = line.find_first_of(kBetween, at);
    words.push_back(line.substr(at, end - at));
    if (end == std::string_view::npos) return;
    at = line.find_first_not_of(kBetween, end);
  }
}

std::optional<double> DecimalNumber(std::string_view text) {
  double value = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), value, std::chars_format::fixed);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  if (!std::isfinite(value)) return std::nullopt;  // "nan" and "inf" are numbers to from_chars
  return value;
}

std::optional<int64_t> SlashTime(std::string_view text) {
  const auto year = TakeDigits(text, 4);
  if (!year || !TakeChar(text, '/')) return std::nullopt;
  const auto month = TakeDigits(text, 2);
  if (!month || !TakeChar(text, '/')) return std::nullopt;
  const auto day = TakeDigits(text, 2);
  if (!day || !TakeChar(text, ' ')) return std::nullopt;
  const auto midnight = MidnightOf(*year, *month, *day);
  const auto time = TakeTimeOfDay(text);
  if (!midnight || !time || !text.empty()) return std::nullopt;
  return *midnight + *time;
}

std::optional<int64_t> CompactDate(std::string_view text) {
  const auto year = TakeDigits(text, 4);
  const auto month = TakeDigits(text, 2);
  const auto day = TakeDigits(text, 2);
  if (!year || !month || !day || !text.empty()) return std::nullopt;
  return MidnightOf(*year, *month, *day);
}

std::optional<int64_t> TimeOfDay(std::string_view text) {
  const auto time = TakeTimeOfDay(text);
  return text.empty() ? time : std::nullopt;
}

std::optional<int64_t> CalendarTime(std::string_view text, size_t& at) {
  constexpr size_t kWordsBefore = 4;
  std::vector<std::string_view> words;
  SplitWords(text, words);
  for (size_t clock = 0; clock < words.size(); ++clock) {
    auto time = TimeOfDay(words[clock]);
    if (!time.has_value()) continue;
    std::optional<int64_t> year, month, day;
    size_t first = clock;
    const size_t end = std::min(words.size(), clock + 2);
    for (size_t i = clock - std::min(clock, kWordsBefore); i < end; ++i) {
      const std::string_view word = words[i];
      const auto number = WholeNumber(word);
      if (MonthOf(word).has_value()) {
        month = MonthOf(word);
      } else if (number.has_value() && word.size() == 4) {
        year = number;
      } else if (number.has_value() && word.size() <= 2) {
        day = number;
      } else if (!IsWeekday(word)) {
        continue;
      }
      first = std::min(first, i);
    }
    if (!year || !month || !day || *day < 1) continue;
    constexpr int64_t kHalfDayNs = 43'200 * kNsPerSecond;
    const std::string_view next = clock + 1 < words.size() ? words[clock + 1] : "";
    if (next == "PM" && *time < kHalfDayNs) *time += kHalfDayNs;
    if (next == "AM" && *time >= kHalfDayNs) *time -= kHalfDayNs;
    const auto midnight =
        MidnightOf(static_cast<int>(*year), static_cast<int>(*month), static_cast<int>(*day));
    if (!midnight.has_value()) continue;
    at = static_cast<size_t>(words[first].data() - text.data());
    return *midnight + *time;
  }
  return std::nullopt;
}

}  // namespace tracedb
