#include "sources/logs/log_lines.h"

#include <algorithm>
#include <utility>

#include "tracedb/json/json_check.h"

namespace tracedb {
namespace {

constexpr std::string_view kIteration = "iteration";

// Fields that no other program prints: without a head before them, a half line of an iteration.
bool IsIterationField(std::string_view text) {
  for (const std::string_view word : {"elapsed time per iteration", "consumed samples:", "lm loss:",
                                      "number of nan iterations"}) {
    if (text.find(word) != std::string_view::npos) return true;
  }
  return false;
}

bool IsLossOfNothing(const std::vector<LogPair>& pairs) {
  return std::any_of(pairs.begin(), pairs.end(), [](const LogPair& pair) {
    const bool is_number = pair.value.back() >= '0' && pair.value.back() <= '9';
    if (is_number) return pair.value != "0" && pair.name == "number of nan iterations";
    const bool is_loss = pair.name.ends_with("loss") || pair.name == "grad norm";
    return is_loss && (pair.value == "nan" || pair.value == "NaN" || pair.value.ends_with("inf"));
  });
}

}  // namespace

int64_t LogLines::UnixNs(const LogStamp& stamp) {
  if (stamp.has_zone) {
    has_zone_ = true;
    return stamp.ns;
  }
  has_local_time_ = true;
  return stamp.ns - source_.options.utc_offset_ns.value_or(0);
}

LogPlace LogLines::PlaceOf(const LogLine& line) {
  LogPlace place;
  place.line = number_;
  place.iteration = iteration_;
  place.after_ns = last_ns_;
  place.rank = line.rank;
  place.writer = line.writer;
  if (line.stamp) {
    place.at_ns = UnixNs(*line.stamp);
    source_.SawTime(*place.at_ns);
    last_ns_ = place.at_ns;
  }
  return place;
}

Status LogLines::Take(std::string_view raw, uint64_t number, uint64_t offset, bool was_cut) {
  number_ = number;
  offset_ = offset;
  if (was_cut) {  // what is missing may be of any field
    source_.issues.Add("too_long_line", offset, raw);
    return Done{};
  }
  const bool has_controls = FindControl(raw, 0) < raw.size();
  while (true) {  // a progress bar goes back to the line's beginning again and again
    const size_t length = has_controls ? raw.find('\r') : std::string_view::npos;
    if (length == std::string_view::npos) {
      return raw.empty() ? Status(Done{}) : TakePiece(raw, has_controls);
    }
    if (length > 0) TRACEDB_TRY(TakePiece(raw.substr(0, length), has_controls));
    raw.remove_prefix(length + 1);
    offset_ += length + 1;
  }
}

Status LogLines::TakePiece(std::string_view piece, bool may_have_controls) {
  TRACEDB_TRY(TakeLine(piece, may_have_controls));
  for (std::string next; !foreign_.empty();) {
    next.swap(foreign_);
    foreign_.clear();
    TRACEDB_TRY(TakeLine(next, may_have_controls));
  }
  return Done{};
}

Status LogLines::TakeLine(std::string_view piece, bool may_have_controls) {
  const LogLine line = cleaner_.Clean(piece, may_have_controls);
  if (line.text.empty()) return Done{};
  const LogPlace place = PlaceOf(line);
  messages_.SawLine(line.whole, place);
  TRACEDB_ASSIGN(is_timer, timers_.Take(line, place, offset_));
  if (is_timer) return Done{};
  const bool has_bars = line.bar != std::string_view::npos;
  if (has_bars && arguments_.is_inside()) {  // "fim_eod_token ...... <|endoftext|>"
    TRACEDB_ASSIGN(is_argument, arguments_.Take(line, place, offset_));
    if (is_argument) return Done{};
  }
  if (has_bars) {
    TRACEDB_ASSIGN(is_data, TakeBars(line, place));
    if (is_data) return Done{};
  } else {
    TRACEDB_ASSIGN(is_data, TakeNoBars(line, place));
    if (is_data) return Done{};
  }
  messages_.Look(line, place);
  return Done{};
}

Result<bool> LogLines::TakeBars(const LogLine& line, LogPlace place) {
  const std::string_view text = line.text;
  const size_t bar = line.bar;
  const std::string_view first = text.substr(0, bar);
  // Another writer's text may stand in front, without a line end between.
  for (size_t at = first.find(kIteration); at != std::string_view::npos;
       at = first.find(kIteration, at + 1)) {
    std::string_view rest = text.substr(at);
    if (const std::optional<LogHead> head = TakeLogHead(rest)) {
      if (at > 0 && first[at - 1] != ' ') source_.issues.Add("glued_line", offset_, line.whole);
      TRACEDB_TRY(TakeIteration(line, place, *head, rest));
      return true;
    }
  }
  if (text.starts_with("time (ms)")) {
    TRACEDB_TRY(timers_.TakeFields(text.substr(bar + 1), place, offset_, line.whole));
    return true;
  }
  if (first.find("memory (MB)") != std::string_view::npos) {
    TRACEDB_TRY(TakeMemory(line, place, text.substr(bar + 1)));
    return true;
  }
  if (first.find("validation loss at ") != std::string_view::npos ||
      first.find("test loss at ") != std::string_view::npos) {
    TRACEDB_TRY(TakeEvaluation(line, place));
    return true;
  }
  if (text.find("/Rnk:") != std::string_view::npos) {
    TRACEDB_TRY(TakeStragglers(line, place));
    return true;
  }
  if (IsIterationField(text)) {
    source_.issues.Add("half_line", offset_, line.whole);
    return true;
  }
  return TakeNamedIteration(line, place);
}

// A line is whole when each field is, and when it ends in a bar as others of its log do. What
// stands after the bar of the last field is of another writer, who began before the line's end was
// printed: the last one is known by its name, or by the line before, which has the same fields.
bool LogLines::ReadFields(const LogLine& line, std::string_view text, bool wants_final_bar) {
  if (rows_.ReadAsLast(text, pairs_)) return true;
  pairs_.clear();
  bool ends_in_bar = false;
  const std::string_view all = text;
  const PairsEnd end = ReadLogPairs(text, pairs_, ends_in_bar);
  if (end == PairsEnd::kTooMany) {
    source_.issues.Add("too_many_fields", offset_, line.whole);
    return false;
  }
  if (end == PairsEnd::kWhole && !pairs_.empty() && (ends_in_bar || !wants_final_bar)) {
    has_final_bars_ |= ends_in_bar;
    return true;
  }
  if (end == PairsEnd::kWhole) {  // what stands after the last bar is like a field
    const size_t closed = all.rfind('|') + 1;
    std::string_view fields = all.substr(0, closed);
    pairs_.clear();
    ReadLogPairs(fields, pairs_, ends_in_bar);
    text = all.substr(closed);
  }
  const bool has_all =
      !pairs_.empty() && (pairs_.back().name == "number of nan iterations" ||
                          pairs_.back().name.ends_with(" PPL") || rows_.HasLastForm(pairs_));
  if (!ends_in_bar || !has_all) {
    source_.issues.Add("half_line", offset_, line.whole);
    return false;
  }
  source_.issues.Add("glued_line", offset_, line.whole);
  foreign_ = text;
  return true;
}

Status LogLines::TakeIteration(const LogLine& line, LogPlace place, const LogHead& head,
                               std::string_view fields) {
  TRACEDB_TRY(timers_.End());
  // "name=value | name=value": a form that has no bar at its end.
  const bool has_equals = fields.substr(0, fields.find('|')).find('=') != std::string_view::npos;
  if (!ReadFields(line, fields, has_final_bars_ && !has_equals)) return Done{};
  iteration_ = place.iteration = head.iteration;
  if (IsLossOfNothing(pairs_)) messages_.Add("nan", line.whole, place);
  return rows_.AddIteration(place, head, pairs_);
}

// "epoch: 1 | step: 30 | loss: 2.31": any line of three fields, one of which counts.
Result<bool> LogLines::TakeNamedIteration(const LogLine& line, LogPlace place) {
  pairs_.clear();
  bool ends_in_bar = false;
  std::string_view text = line.text;
  if (ReadLogPairs(text, pairs_, ends_in_bar) != PairsEnd::kWhole || pairs_.size() < 3) {
    return false;
  }
  return TakeNamedPairs(place);
}

// The fields in pairs_, if one of them is the iteration's number.
Result<bool> LogLines::TakeNamedPairs(LogPlace place) {
  for (auto pair = pairs_.begin(); pair != pairs_.end(); ++pair) {
    if (!IsIterationName(pair->name)) continue;
    std::string_view value = pair->value;
    const std::optional<int64_t> iteration = TakeLogNumber(value);
    if (!iteration) return false;
    LogHead head{*iteration, std::nullopt};
    if (value.starts_with('/')) {
      value.remove_prefix(1);
      head.iterations = TakeLogNumber(value);
    }
    if (!value.empty()) return false;
    pairs_.erase(pair);
    TRACEDB_TRY(timers_.End());
    iteration_ = place.iteration = head.iteration;
    TRACEDB_TRY(rows_.AddIteration(place, head, pairs_));
    return true;
  }
  return false;
}

// "validation loss at iteration 14 on test set | lm loss value: 7.2E+00 | lm loss PPL: 1.3E+03 | ".
Status LogLines::TakeEvaluation(const LogLine& line, LogPlace place) {
  const size_t bar = line.bar;
  std::string_view head = line.text.substr(0, bar);
  std::string_view dataset;
  if (const size_t on = head.find(" on "); on != std::string_view::npos) {
    dataset = TrimBlanks(head.substr(on + 4));
    head = head.substr(0, on);
  }
  if (const size_t at = head.find(kIteration); at != std::string_view::npos) {
    std::string_view rest = TrimBlanks(head.substr(at + kIteration.size()));
    if (const std::optional<int64_t> iteration = TakeLogNumber(rest)) place.iteration = iteration;
  }
  if (!ReadFields(line, line.text.substr(bar + 1), true)) return Done{};
  return rows_.AddEvaluation(place, dataset, pairs_);
}

// "(after 10 iterations) memory (MB) | allocated: 5500.9 | max allocated: 7316.1 | ...".
Status LogLines::TakeMemory(const LogLine& line, LogPlace place, std::string_view fields) {
  constexpr std::string_view kAfter = "(after ";
  if (const size_t at = line.text.find(kAfter); at != std::string_view::npos) {
    std::string_view rest = line.text.substr(at + kAfter.size());
    if (const std::optional<int64_t> iteration = TakeLogNumber(rest)) place.iteration = iteration;
  }
  pairs_.clear();
  bool ends_in_bar = false;
  bool is_half = ReadLogPairs(fields, pairs_, ends_in_bar) != PairsEnd::kWhole || pairs_.empty();
  for (const LogPair& pair : pairs_) is_half |= !IsJsonNumber(pair.value);
  if (is_half) {
    source_.issues.Add("half_line", offset_, line.whole);
    return Done{};
  }
  for (const LogPair& pair : pairs_) {
    TRACEDB_TRY(rows_.AddMemory(place, pair.name, LeadingNumber(pair.value).value_or(0)));
  }
  return Done{};
}

Result<bool> LogLines::TakeNoBars(const LogLine& line, const LogPlace& place) {
  TRACEDB_ASSIGN(is_argument, arguments_.Take(line, place, offset_));
  if (is_argument) return true;
  // Most lines are none of these: the first letter says so, or that there is no colon.
  const char first = line.text.front();
  const auto take = [&](bool may_be, auto taker) -> Result<bool> {
    return may_be ? (this->*taker)(line, place) : Result<bool>(false);
  };
  TRACEDB_ASSIGN(is_event, take(first == '[' || first == 'S', &LogLines::TakeEvent));
  if (is_event) return true;
  TRACEDB_ASSIGN(is_memory, take(line.has_place, &LogLines::TakeUsedMemory));
  if (is_memory) return true;
  TRACEDB_ASSIGN(is_setting, take(true, &LogLines::TakeSetting));
  if (is_setting) return true;
  TRACEDB_ASSIGN(is_ranks, take(first == '=' || first == '^', &LogLines::TakeBottomRanks));
  if (is_ranks) return true;
  if (ReadSpacedPairs(line.text, pairs_)) return TakeNamedPairs(place);
  if (first != kIteration.front()) return false;
  TRACEDB_ASSIGN(is_time, TakeSeconds(line, place));
  if (is_time) return true;
  if (line.text.starts_with(kIteration) && IsIterationField(line.text)) {
    source_.issues.Add("half_line", offset_, line.whole);
    return true;
  }
  return false;
}

Status LogLines::End() {
  TRACEDB_TRY(timers_.End());
  if (has_local_time_) {
    source_.time_source =
        source_.options.utc_offset_ns ? "local time, zone given" : "local time, zone unknown";
  } else if (has_zone_) {
    source_.time_source = "zone in the log";
  }
  return messages_.Write(rows_);
}

}  // namespace tracedb
