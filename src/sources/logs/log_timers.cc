#include "sources/logs/log_timers.h"

#include <utility>

#include "tracedb/json/json_check.h"

namespace tracedb {
namespace {

constexpr size_t kBlockBytesMax = size_t{1} << 18;  // of one row; a longer block is several

// "(min, max) time across ranks (ms):" somewhere in the line; `rest` is what follows it.
std::optional<TimerForm> HeaderIn(const LogLine& line, std::string_view& rest) {
  constexpr std::pair<std::string_view, TimerForm> kHeaders[] = {
      {"(min, max) time across ranks (ms):", TimerForm::kMinMax},
      {"max time across ranks (ms):", TimerForm::kMax},
      {"times across ranks (ms):", TimerForm::kRanks}};
  // Most lines have no colon, or no k: the rest of these words is not looked for.
  constexpr std::string_view kEnd = "ks (ms):";
  const std::string_view text = line.text;
  if (line.colon == std::string_view::npos || text.find(kEnd) == std::string_view::npos) {
    return std::nullopt;
  }
  for (const auto& [words, form] : kHeaders) {
    const size_t at = text.find(words);
    if (at == std::string_view::npos) continue;
    rest = TrimBlanks(text.substr(at + words.size()));
    return form;
  }
  return std::nullopt;
}

// "name .....: value" apart; the dots are missing where the name is long.
bool SplitDotted(std::string_view text, std::string_view& name, std::string_view& value) {
  const size_t colon = text.rfind(": ");
  if (colon == std::string_view::npos || colon == 0) return false;
  value = TrimBlanks(text.substr(colon + 2));
  name = text.substr(0, colon);
  while (name.ends_with('.')) name.remove_suffix(1);
  const bool had_blank = name.ends_with(' ');
  name = TrimBlanks(name);
  return had_blank && !name.empty() && name.find(':') == std::string_view::npos &&
         name.find('|') == std::string_view::npos;
}

// "(210.40, 221.30)".
bool SplitMinMax(std::string_view value, std::string_view& low, std::string_view& high) {
  if (!value.starts_with('(') || !value.ends_with(')')) return false;
  value = value.substr(1, value.size() - 2);
  const size_t comma = value.find(", ");
  if (comma == std::string_view::npos) return false;
  low = value.substr(0, comma);
  high = TrimBlanks(value.substr(comma + 2));
  return IsJsonNumber(low) && IsJsonNumber(high);
}

void AppendNumber(std::string_view number, std::string& numbers) {
  if (!numbers.empty()) numbers += ',';
  numbers += number;
}

// Beyond 1e11: no timer runs for three years.
bool IsEpoch(std::string_view number) {
  constexpr size_t kDigits = 12;
  return number.size() >= kDigits && number.find_first_of(".eE") >= kDigits;
}

}  // namespace

Status LogTimerBlocks::Begin(TimerForm form, const LogPlace& place) {
  TRACEDB_TRY(End());
  is_open_ = true;
  place_ = place;
  writer_ = place.writer;
  place_.writer = writer_;
  timers_.form = form;
  next_known_ = 0;
  rank_.reset();
  return Done{};
}

Status LogTimerBlocks::Write() {
  const bool has_numbers = !timers_.numbers.empty();
  const Status done = has_numbers ? rows_.AddTimers(place_, timers_) : Status(Done{});
  timers_.names.clear();
  timers_.numbers.clear();
  return done;
}

Status LogTimerBlocks::End() {
  if (!is_open_) return Done{};
  is_open_ = false;
  if (!starts_name_.empty()) issues_.Add("times_without_ends", offset_, starts_name_);
  starts_name_.clear();
  return Write();
}

// The timers of an iteration come once, after its line. A second time they are of another one,
// whose line went astray or is still to come: of which, nobody can tell.
Status LogTimerBlocks::CheckOrder(std::string_view first_name, uint64_t offset,
                                  std::string_view whole) {
  if (first_name != "forward-backward" && first_name != "forward-compute" &&
      first_name != "forward") {
    return Done{};
  }
  if (place_.iteration && timed_iteration_ == place_.iteration) {
    issues_.Add("timers_of_unknown_iteration", offset, whole);
    place_.iteration.reset();
  } else {
    timed_iteration_ = place_.iteration;
  }
  return Done{};
}

// As SplitDotted(), which has to look for no name that stood at this place in the last block.
bool LogTimerBlocks::SplitTimer(std::string_view text, std::string_view& name,
                                std::string_view& value) {
  constexpr size_t kKnownMax = 256;
  constexpr size_t kHeadBytesMax = 200;
  if (next_known_ < known_.size() && text.starts_with(known_[next_known_].head)) {
    const KnownTimer& known = known_[next_known_++];
    name = known.name;
    value = TrimBlanks(text.substr(known.head.size()));
    return true;
  }
  if (!SplitDotted(text, name, value)) return false;
  const size_t head = text.rfind(": ") + 2;
  if (next_known_ == kKnownMax || head > kHeadBytesMax) return true;
  known_.resize(next_known_++);
  known_.push_back({std::string(text.substr(0, head)), std::string(name)});
  return true;
}

Result<bool> LogTimerBlocks::TakeTimer(std::string_view text) {
  std::string_view name, value, low, high;
  if (!SplitTimer(text, name, value)) return false;
  const bool is_pair = SplitMinMax(value, low, high);
  if (is_pair != (timers_.form == TimerForm::kMinMax)) return false;
  if (!is_pair && !IsJsonNumber(value)) return false;
  if (timers_.names.empty()) TRACEDB_TRY(CheckOrder(name, offset_, text));
  if (timers_.names.size() + timers_.numbers.size() > kBlockBytesMax) TRACEDB_TRY(Write());
  timers_.AddName(name);
  if (is_pair) {
    AppendNumber(low, timers_.numbers);
    AppendNumber(high, timers_.numbers);
    if (IsEpoch(low) || IsEpoch(high)) issues_.Add("epoch_in_timer", offset_, text);
  } else {
    AppendNumber(value, timers_.numbers);
    if (IsEpoch(value)) issues_.Add("epoch_in_timer", offset_, text);
  }
  return true;
}

// "rank  0: 123.45" of the timer named last, or that name: "forward-compute:".
Result<bool> LogTimerBlocks::TakeRank(std::string_view text, uint64_t offset) {
  if (text.starts_with("rank ")) {
    std::string_view rest = TrimBlanks(text.substr(5));
    const std::optional<int64_t> rank = TakeLogNumber(rest);
    if (!rank || !rest.starts_with(": ") || !IsJsonNumber(TrimBlanks(rest.substr(2)))) return false;
    if (timers_.names.empty()) {
      issues_.Add("timer_without_name", offset, text);
      return true;
    }
    rank_ = *rank;
    if (timers_.numbers.size() > kBlockBytesMax) {
      const std::string name = timers_.names;
      TRACEDB_TRY(Write());
      timers_.names = name;
    }
    AppendNumber(std::to_string(*rank), timers_.numbers);
    AppendNumber(TrimBlanks(rest.substr(2)), timers_.numbers);
    if (IsEpoch(TrimBlanks(rest.substr(2)))) issues_.Add("epoch_in_timer", offset, text);
    return true;
  }
  if (!text.ends_with(':') || text.find_first_of(" |(=") != std::string_view::npos) return false;
  TRACEDB_TRY(Write());
  rank_.reset();
  const std::string_view name = text.substr(0, text.size() - 1);
  timers_.AddName(name);
  return true;
}

// "forward-compute start time lst:  1686729000.1 1686729000.4": seconds since 1970, one a call.
Result<bool> LogTimerBlocks::TakeTimes(std::string_view text, const LogPlace& place,
                                       uint64_t offset) {
  constexpr std::string_view kStart = " start time lst:";
  constexpr std::string_view kEnd = " end time lst:";
  constexpr size_t kNameBytesMax = 200;
  const std::string_view head = text.substr(0, kNameBytesMax);
  if (const size_t at = head.find(kStart); at != std::string_view::npos) {
    if (!starts_name_.empty()) issues_.Add("times_without_ends", offset_, starts_name_);
    starts_name_ = text.substr(0, at);
    starts_ = text.substr(at + kStart.size());
    offset_ = offset;
    return true;
  }
  const size_t at = head.find(kEnd);
  if (at == std::string_view::npos) return false;
  if (starts_name_ != text.substr(0, at)) {
    issues_.Add("times_without_starts", offset, text);
    return true;
  }
  TRACEDB_TRY(WriteTimes(place, text.substr(at + kEnd.size()), offset));
  starts_name_.clear();
  return true;
}

Status LogTimerBlocks::WriteTimes(const LogPlace& place, std::string_view ends, uint64_t offset) {
  std::string_view starts = starts_;
  LogPlace of_rank = place;
  if (rank_) of_rank.rank = rank_;
  for (int64_t ordinal = 1;; ++ordinal) {
    const std::string_view start = TakeLogWord(starts);
    const std::string_view end = TakeLogWord(ends);
    if (start.empty() && end.empty()) return Done{};
    const std::optional<int64_t> start_ns = ReadSecondsAsNs(start);
    const std::optional<int64_t> end_ns = ReadSecondsAsNs(end);
    if (!start_ns || !end_ns || *end_ns < *start_ns) {
      issues_.Add("times_that_do_not_pair", offset, start.empty() ? end : start);
      if (start.empty() || end.empty()) return Done{};
      continue;
    }
    TRACEDB_TRY(rows_.AddTimerSlice(of_rank, starts_name_, ordinal, *start_ns, *end_ns));
  }
}

Result<bool> LogTimerBlocks::Take(const LogLine& line, const LogPlace& place, uint64_t offset) {
  const std::string_view text = line.text;
  std::string_view rest;
  if (is_open_ && place.writer == writer_) {
    const bool is_by_rank = timers_.form == TimerForm::kRanks;
    TRACEDB_ASSIGN(taken, is_by_rank ? TakeRank(text, offset) : TakeTimer(text));
    if (taken) return true;
  }
  if (const std::optional<TimerForm> form = HeaderIn(line, rest)) {
    TRACEDB_TRY(Begin(*form, place));
    offset_ = offset;
    if (rest.empty()) return true;
    TRACEDB_ASSIGN(taken, TakeTimer(rest));
    if (!taken) issues_.Add("half_line", offset, text);
    return true;
  }
  if (line.colon != std::string_view::npos && text.substr(0, line.colon).ends_with(" time lst")) {
    return TakeTimes(text, place, offset);
  }
  return false;
}

Status LogTimerBlocks::TakeFields(std::string_view text, const LogPlace& place, uint64_t offset,
                                  std::string_view whole) {
  TRACEDB_TRY(Begin(TimerForm::kOne, place));
  offset_ = offset;
  std::vector<LogPair> pairs;
  bool ends_in_bar = false;
  bool is_half = ReadLogPairs(text, pairs, ends_in_bar) != PairsEnd::kWhole || pairs.empty();
  for (const LogPair& pair : pairs) is_half |= !IsJsonNumber(pair.value);
  if (is_half) {
    issues_.Add("half_line", offset, whole);
    is_open_ = false;
    return Done{};
  }
  TRACEDB_TRY(CheckOrder(pairs.front().name, offset, whole));
  for (const LogPair& pair : pairs) {
    timers_.AddName(pair.name);
    AppendNumber(pair.value, timers_.numbers);
  }
  return End();
}

}  // namespace tracedb
