#include "sources/logs/log_time.h"

#include <limits>

namespace tracedb {
namespace {

constexpr int64_t kNsEachSecond = 1'000'000'000;

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// The `count` digits at `at`; -1: there are others.
int Digits(std::string_view text, size_t at, size_t count) {
  if (at + count > text.size()) return -1;
  int value = 0;
  for (size_t i = at; i < at + count; ++i) {
    if (!IsDigit(text[i])) return -1;
    value = value * 10 + (text[i] - '0');
  }
  return value;
}

// Days since 1970 of a date of the Gregorian calendar (H. Hinnant's days_from_civil).
int64_t DaysSince1970(int year, int month, int day) {
  year -= month <= 2 ? 1 : 0;
  const int era = year / 400;
  const int year_of_era = year - era * 400;
  const int day_of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
  const int day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
  return int64_t{era} * 146097 + day_of_era - 719468;
}

// Reads digits from `at` on as a fraction of a second; digits beyond the ninth are read over.
int64_t FractionNs(std::string_view text, size_t& at) {
  int64_t ns = 0;
  int64_t digit_ns = kNsEachSecond / 10;
  for (; at < text.size() && IsDigit(text[at]); ++at, digit_ns /= 10) {
    ns += (text[at] - '0') * digit_ns;
  }
  return ns;
}

// "Z" or "+02:00" at `at`, as what local time is ahead of UTC.
std::optional<int64_t> ZoneNs(std::string_view text, size_t& at) {
  if (at >= text.size()) return std::nullopt;
  if (text[at] == 'Z') {
    ++at;
    return 0;
  }
  if (text[at] != '+' && text[at] != '-') return std::nullopt;
  const int hours = Digits(text, at + 1, 2);
  const size_t colon = at + 3 < text.size() && text[at + 3] == ':' ? 1 : 0;
  const int minutes = Digits(text, at + 3 + colon, 2);
  if (hours < 0 || minutes < 0) return std::nullopt;
  const int64_t ahead_ns = (int64_t{hours} * 3600 + int64_t{minutes} * 60) * kNsEachSecond;
  const bool is_behind = text[at] == '-';
  at += 5 + colon;
  return is_behind ? -ahead_ns : ahead_ns;
}

}  // namespace

std::optional<LogStamp> ReadLogStamp(std::string_view text, size_t& length) {
  constexpr size_t kShortest = 19;
  if (text.size() < kShortest || (text[4] != '-' && text[4] != '/') || text[7] != text[4] ||
      (text[10] != ' ' && text[10] != 'T') || text[13] != ':' || text[16] != ':') {
    return std::nullopt;
  }
  const int year = Digits(text, 0, 4), month = Digits(text, 5, 2), day = Digits(text, 8, 2);
  const int hour = Digits(text, 11, 2), minute = Digits(text, 14, 2), second = Digits(text, 17, 2);
  if (year < 1970 || year > 2200 || month < 1 || month > 12 || day < 1 || day > 31 || hour < 0 ||
      hour > 24 || minute < 0 || minute > 59 || second < 0 || second > 60) {
    return std::nullopt;
  }
  LogStamp stamp;
  stamp.ns = (DaysSince1970(year, month, day) * 86400 + hour * 3600 + minute * 60 + second) *
             kNsEachSecond;
  size_t at = kShortest;
  if (at + 1 < text.size() && (text[at] == '.' || text[at] == ',') && IsDigit(text[at + 1])) {
    ++at;
    stamp.ns += FractionNs(text, at);
  }
  if (const std::optional<int64_t> zone = ZoneNs(text, at)) {
    stamp.ns -= *zone;
    stamp.has_zone = true;
  }
  length = at;
  return stamp;
}

std::optional<int64_t> ReadSecondsAsNs(std::string_view text) {
  int64_t seconds = 0;
  size_t at = 0;
  for (; at < text.size() && IsDigit(text[at]); ++at) {
    seconds = seconds * 10 + (text[at] - '0');
    if (seconds > std::numeric_limits<int64_t>::max() / kNsEachSecond - 1) return std::nullopt;
  }
  if (at == 0) return std::nullopt;
  int64_t ns = seconds * kNsEachSecond;
  if (at < text.size() && text[at] == '.') {
    ++at;
    ns += FractionNs(text, at);
  }
  if (at != text.size()) return std::nullopt;
  return ns;
}

}  // namespace tracedb
