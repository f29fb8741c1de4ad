// The lines of a training log without fields between bars: events, memory, settings, stragglers.
#include <algorithm>
#include <utility>

#include "sources/logs/log_lines.h"
#include "tracedb/json/json_check.h"

namespace tracedb {
namespace {

// What a block of settings that begins with NODE_RANK may hold.
constexpr int kSettingLines = 40;

bool IsUpperName(std::string_view name) {
  return !name.empty() && name.front() >= 'A' && name.front() <= 'Z' &&
         std::all_of(name.begin(), name.end(), [](char c) {
           return (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
         });
}

// The number after `name` in the text, with its unit if that stands at it: "4.97GB".
std::optional<double> MbBehind(std::string_view text, std::string_view name) {
  const size_t at = text.find(name);
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view rest = TrimBlanks(text.substr(at + name.size()));
  const std::optional<double> gb = LeadingNumber(rest);
  if (!gb) return std::nullopt;
  return *gb * 1024;
}

}  // namespace

// "[after dataloaders are built] datetime: 2021-08-19 07:25:51", and what the profiler prints:
// "STAGE:2024-08-21 10:15:12 1863929:1863929 ActivityProfilerController.cpp:314] Completed ...".
Result<bool> LogLines::TakeEvent(const LogLine& line, const LogPlace& place) {
  constexpr std::string_view kDate = "] datetime: ";
  constexpr std::string_view kStage = "STAGE:";
  std::string_view text = line.text;
  size_t length = 0;
  LogPlace at = place;
  if (text.starts_with(kStage)) {
    text.remove_prefix(kStage.size());
    const std::optional<LogStamp> stamp = ReadLogStamp(text, length);
    if (!stamp) return false;
    text = TrimBlanks(text.substr(length));
    const std::optional<int64_t> pid = TakeLogNumber(text);
    const size_t close = text.find("] ");
    if (!pid || close == std::string_view::npos) return false;
    at.at_ns = last_ns_ = UnixNs(*stamp);
    source_.SawTime(*at.at_ns);
    TRACEDB_TRY(rows_.AddEvent(at, text.substr(close + 2), pid));
    return true;
  }
  if (text.front() != '[') return false;
  const size_t close = text.find(kDate);
  if (close == std::string_view::npos) return false;
  const std::string_view date = TrimBlanks(text.substr(close + kDate.size()));
  const std::optional<LogStamp> stamp = ReadLogStamp(date, length);
  if (!stamp || length != date.size()) {
    source_.issues.Add("half_line", offset_, line.whole);
    return true;
  }
  at.at_ns = last_ns_ = UnixNs(*stamp);
  source_.SawTime(*at.at_ns);
  TRACEDB_TRY(rows_.AddEvent(at, text.substr(1, close - 1), std::nullopt));
  return true;
}

// DeepSpeed: "MemAllocated=4.97GB, MaxMemAllocated=9.2GB", and "MA 3.2 GB  Max_MA 4.0 GB ...".
Result<bool> LogLines::TakeUsedMemory(const LogLine& line, const LogPlace& place) {
  if (!line.has_place) return false;
  constexpr std::pair<std::string_view, std::string_view> kNames[] = {
      {" MemAllocated=", "allocated"},
      {" MaxMemAllocated=", "max allocated"},
      {"MA ", "allocated"},
      {"Max_MA ", "max allocated"},
      {" CA ", "reserved"},
      {"Max_CA ", "max reserved"}};
  const bool is_short = line.text.starts_with("MA ");
  if (!is_short && line.text.find("MemAllocated=") == std::string_view::npos) return false;
  for (const auto& [written, name] : kNames) {
    if (written.ends_with('=') == is_short) continue;
    if (const std::optional<double> mb = MbBehind(line.text, written)) {
      TRACEDB_TRY(rows_.AddMemory(place, name, *mb));
    }
  }
  return true;
}

// "iteration 10 : 4.5416 s", as scripts print what they have found in other logs.
Result<bool> LogLines::TakeSeconds(const LogLine& line, LogPlace place) {
  std::string_view text = line.text;
  if (!text.starts_with("iteration ")) return false;
  TakeLogWord(text);
  const std::optional<int64_t> iteration = TakeLogNumber(text);
  text = TrimBlanks(text);
  if (!iteration || !text.starts_with(": ")) return false;
  text = TrimBlanks(text.substr(2));
  const std::string_view seconds = TakeLogWord(text);
  if (text != "s" || !IsJsonNumber(seconds)) return false;
  pairs_.assign(1, LogPair{"iteration time", seconds, "s"});
  iteration_ = place.iteration = iteration;
  TRACEDB_TRY(rows_.AddIteration(place, LogHead{*iteration, std::nullopt}, pairs_));
  return true;
}

// "NODE_RANK: 1" and the settings below it.
Result<bool> LogLines::TakeSetting(const LogLine& line, const LogPlace& place) {
  if (settings_left_ > 0) --settings_left_;
  const size_t colon = line.colon;
  if (colon == std::string_view::npos) return false;
  const std::string_view name = line.text.substr(0, colon);
  const bool is_begin = name == "NODE_RANK" && !line.is_indented;
  if (!is_begin && (settings_left_ == 0 || !IsUpperName(name))) return false;
  if (colon + 1 < line.text.size() && line.text[colon + 1] != ' ') return false;
  const std::string_view value = TrimBlanks(line.text.substr(colon + 1));
  if (name == "STAGE" || (is_begin && value.empty())) return false;
  settings_left_ = kSettingLines;
  const bool is_secret = IsSecretName(name);
  TRACEDB_TRY(rows_.AddSetting(place, "log", name, is_secret ? "(not copied)" : value));
  return true;
}

// "^^^^ Bottom 4 Ranks with lowest  Etpt(TF): 296.02/0, 296.81/3", and the title of a report.
Result<bool> LogLines::TakeBottomRanks(const LogLine& line, const LogPlace& place) {
  std::string_view text = line.text;
  if (text.starts_with("=== Straggler Report at Step ")) {
    TRACEDB_TRY(rows_.AddEvent(place, text, std::nullopt));
    return true;
  }
  if (!text.starts_with("^^^^ ") || text.find(" Ranks with ") == std::string_view::npos) {
    return false;
  }
  text = TrimBlanks(text.substr(5));
  const size_t colon = text.find(": ");
  if (colon == std::string_view::npos) return false;
  std::string_view name = text.substr(0, colon);
  std::string_view unit;
  if (const size_t open = name.rfind('('); open != std::string_view::npos && name.ends_with(')')) {
    unit = name.substr(open + 1, name.size() - open - 2);
    name = name.substr(0, open);
  }
  text = text.substr(colon + 2);
  while (!text.empty()) {
    const std::string_view entry = TrimBlanks(text.substr(0, text.find(',')));
    text.remove_prefix(std::min(
        text.size(), text.find(',') == std::string_view::npos ? text.size() : text.find(',') + 1));
    const size_t slash = entry.find('/');
    if (slash == std::string_view::npos || !LeadingNumber(entry)) {
      if (entry != "\xE2\x80\xA6" && !entry.empty()) {
        source_.issues.Add("half_line", offset_, line.whole);
      }
      continue;
    }
    TRACEDB_TRY(rows_.AddStraggler(place, TrimBlanks(name), entry.substr(0, slash), unit,
                                   entry.substr(slash + 1)));
  }
  return true;
}

// "| MnRtt/Rnk: 3453.08ms/8 | MxRtt/Rnk: 3468.20ms/0 | ...": a value, its unit and whose it is.
Status LogLines::TakeStragglers(const LogLine& line, const LogPlace& place) {
  pairs_.clear();
  bool ends_in_bar = false;
  std::string_view text = line.text;
  if (text.starts_with('|')) text.remove_prefix(1);
  if (ReadLogPairs(text, pairs_, ends_in_bar) != PairsEnd::kWhole) {
    source_.issues.Add("half_line", offset_, line.whole);
    return Done{};
  }
  for (const LogPair& pair : pairs_) {
    const std::string_view written = pair.value;
    const size_t slash = written.rfind('/');
    std::string_view name = pair.name;
    if (name.ends_with("/Rnk")) name.remove_suffix(4);
    std::string_view value = written.substr(0, slash);
    size_t digits = 0;
    while (digits < value.size() && ((value[digits] >= '0' && value[digits] <= '9') ||
                                     value[digits] == '.' || value[digits] == '-')) {
      ++digits;
    }
    const std::string_view rank =
        slash == std::string_view::npos ? std::string_view() : written.substr(slash + 1);
    TRACEDB_TRY(rows_.AddStraggler(place, name, value, value.substr(digits), rank));
  }
  return Done{};
}

}  // namespace tracedb
