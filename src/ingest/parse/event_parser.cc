#include "ingest/parse/event_parser.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <new>
#include <string>
#include <vector>

#include "ingest/frame/event_resync.h"
#include "ingest/frame/event_scan.h"
#include "ingest/parse/event_fields.h"
#include "ingest/parse/event_layouts.h"
#include "ingest/parse/event_recorder.h"
#include "tracedb/json/json_blanks.h"
#include "tracedb/json/json_quotes.h"
#include "tracedb/json/json_requote.h"
#include "tracedb/json/json_text.h"

namespace tracedb {
namespace {

using simdjson::error_code;
namespace ondemand = simdjson::ondemand;

// One element's extent in a window in which something is wrong.
struct EventExtent {
  size_t end = 0;      // after its last byte
  bool closed = true;  // false: it begins with a brace that never closes
};

EventExtent ObjectExtent(std::string_view text, size_t from) {
  constexpr size_t kFirstScanBytes = 1024;
  EventScanState state;
  const char* const end = text.data() + text.size();
  size_t scan_bytes = kFirstScanBytes;
  for (const char* at = text.data() + from; at != end; scan_bytes *= 2) {
    const char* const to = at + std::min(scan_bytes, static_cast<size_t>(end - at));
    const EventScan found = ScanEvents(state, at, to);
    if (found.first_end != nullptr) {
      return {static_cast<size_t>(found.first_end - text.data()), true};
    }
    at = to;
  }
  return {text.size(), false};
}

// After an element that does not begin with a brace: up to the next comma or bracket, pairs aside.
// Closing brackets that follow each other are one.
size_t OtherEnd(std::string_view text, size_t from) {
  const auto closes = [](char c) { return c == '}' || c == ']'; };
  if (closes(text[from])) {
    size_t at = from;
    while (at < text.size() && closes(text[at])) ++at;
    return at;
  }
  if (text[from] == '[') {
    const EventExtent extent = ObjectExtent(text, from);
    return extent.closed ? extent.end : from + 1;
  }
  JsonQuotes quotes;
  for (size_t at = from; at < text.size(); ++at) {
    const char c = text[at];
    if (quotes.Outside(c) && (c == ',' || c == '{' || c == '[' || closes(c))) return at;
  }
  return text.size();
}

int DepthMax(std::string_view event) {
  int depth = 0;
  int depth_max = 0;
  JsonQuotes quotes;
  for (const char c : event) {
    if (!quotes.Outside(c)) continue;
    if (c == '{' || c == '[') depth_max = std::max(depth_max, ++depth);
    if (c == '}' || c == ']') --depth;
  }
  return depth_max;
}

// How much of a text that is no event belongs to the broken one: a brace or a quote that is missing
// makes it swallow those after it. `next` is where the next event seems to begin.
size_t EndOfBroken(std::string_view event, size_t next) {
  event = event.substr(0, next);
  return std::min(NextEventAfterLostQuote(event), event.size());
}

// What separates events.
size_t AfterBlanksFrom(std::string_view text, size_t at) {
  const char* const begin = text.data();
  return static_cast<size_t>(
      AfterBlanks<Blanks::kBlanksAndCommas>(begin + at, begin + text.size()) - begin);
}

// Memory that could not be had says nothing of the text.
error_code Checked(error_code code) {
  if (code == simdjson::MEMALLOC) throw std::bad_alloc();
  return code;
}

std::string_view WithoutComma(std::string_view event) {
  const size_t last = event.find_last_not_of(" \t\r\n,");
  return event.substr(0, last == std::string_view::npos ? 0 : last + 1);
}

}  // namespace

class EventParser::Impl {
 public:
  Impl(const LoadLimits& limits, unsigned number, bool keep_args, ParseWay way)
      : way_(way),
        limits_(limits),
        number_(number),
        recorder_(limits, keep_args),
        layouts_(limits.dictionary_bytes_max) {}

  void Parse(EventWindow& window, EventBatch& batch);

 private:
  enum class Outcome { kDone, kBroken, kEmpty };

  bool ParseKnown(std::string_view text, uint64_t offset);
  bool ParseNext(std::string_view text, size_t& at, uint64_t offset);
  bool ParseWhole(EventWindow& window, size_t begin, size_t end);
  void ParseOneByOne(std::string_view text, uint64_t offset);
  Outcome ParseAlone(std::string_view event);
  bool ParseClosed(std::string_view event, uint64_t offset);
  size_t ParseBroken(std::string_view text, size_t length, size_t next, uint64_t offset);
  bool ParseMended(std::string_view event, uint64_t offset);
  bool ParseRequoted(std::string_view event, uint64_t offset);

  ParseWay way_;
  LoadLimits limits_;
  unsigned number_;
  ondemand::parser window_parser_;
  ondemand::parser event_parser_;
  EventRecorder recorder_;
  EventFields fields_;
  EventLayouts layouts_;
  unsigned windows_until_retry_ = 0;  // while layouts do not pay
  bool taught_ = false;               // they have seen a window
  std::string alone_;
  static constexpr size_t kRequotes = 4;  // how often a byte's quotes are told apart, on average
  size_t requote_bytes_left_ = 0;         // of this window: keeps the whole linear
  std::string mended_;
  EventBatch* batch_ = nullptr;
};

bool ChooseJsonParser() { return !simdjson::get_active_implementation()->name().empty(); }

EventParser::EventParser(const LoadLimits& limits, unsigned number, bool keep_args, ParseWay way)
    : impl_(std::make_unique<Impl>(limits, number, keep_args, way)) {}
EventParser::~EventParser() = default;

void EventParser::Parse(EventWindow& window, EventBatch& batch) { impl_->Parse(window, batch); }

void EventParser::Impl::Parse(EventWindow& window, EventBatch& batch) {
  batch_ = &batch;
  batch.ordinal = window.ordinal;
  batch.parser = number_;
  if (recorder_.Begin(batch)) layouts_.Clear();
  const auto blank = [&](size_t at) {
    return IsJsonBlank(window.bytes[at]) || window.bytes[at] == ',';
  };
  size_t begin = window.begin;
  size_t end = window.end;
  begin = AfterBlanksFrom({window.data(), end}, begin);
  while (begin < end && blank(end - 1)) --end;
  if (begin == end) return;
  const uint64_t offset = window.offset + (begin - window.begin);
  const std::string_view text(window.data() + begin, end - begin);
  if (!window.deep && way_ != ParseWay::kOneByOne) {
    if (windows_until_retry_ == 0 && way_ == ParseWay::kByLayout) {
      if (ParseKnown(text, offset)) return;
    } else {
      windows_until_retry_ -= windows_until_retry_ > 0 ? 1 : 0;
      if (ParseWhole(window, begin, end)) return;
    }
  }
  batch.events.clear();
  batch.values.clear();
  batch.issues.Clear();
  ParseOneByOne(text, offset);
}

// Event after event by its layout; those without one are parsed and learned. False when something
// is not as it should be. Where layouts do not help, the next windows go without.
bool EventParser::Impl::ParseKnown(std::string_view text, uint64_t offset) {
  constexpr unsigned kRetryWindows = 15;
  const char* const end = text.data() + text.size();
  unsigned known = 0;
  unsigned unknown = 0;
  for (size_t at = 0; at < text.size();) {
    at = AfterBlanksFrom(text, at);
    if (at == text.size()) break;
    const char* const after = layouts_.Match(text.data() + at, end, offset + at, *batch_);
    if (after != nullptr) {
      ++known;
      at = static_cast<size_t>(after - text.data());
      continue;
    }
    if (!ParseNext(text, at, offset)) return false;
    ++unknown;
  }
  // The first window teaches; after it most events should be known.
  if (unknown > known && taught_) windows_until_retry_ = kRetryWindows;
  taught_ = true;
  return true;
}

// Parses the event at `at`, learns its layout, and moves `at` after it.
bool EventParser::Impl::ParseNext(std::string_view text, size_t& at, uint64_t offset) {
  if (text[at] != '{') return false;
  const EventExtent extent = ObjectExtent(text, at);
  if (!extent.closed) return false;
  const std::string_view event = text.substr(at, extent.end - at);
  const Outcome outcome = ParseAlone(event);
  if (outcome == Outcome::kBroken) return false;
  if (outcome == Outcome::kDone) {
    const size_t before = batch_->events.size();
    recorder_.Record(fields_, offset + at, event);
    if (batch_->events.size() == before) return false;  // something is wrong with it
    layouts_.Learn({alone_.data(), event.size()}, fields_, batch_->events.back());
  }
  at += event.size();
  return true;
}

// The text already reads like the inside of an array: with a bracket at either end it is one.
bool EventParser::Impl::ParseWhole(EventWindow& window, size_t begin, size_t end) {
  char* const text = window.data();
  text[begin - 1] = '[';
  const char after = text[end];
  text[end] = ']';
  const bool parsed = [&] {
    const size_t length = end + 1 - (begin - 1);
    ondemand::document document;
    const size_t room = length + simdjson::SIMDJSON_PADDING;
    // Else simdjson allocates anew for each window that is a little longer than those before.
    if (length > window_parser_.capacity()) {
      Checked(window_parser_.allocate(window.bytes.size()));
    }
    if (Checked(window_parser_.iterate(text + begin - 1, length, room).get(document)) !=
        simdjson::SUCCESS) {
      return false;
    }
    ondemand::array events;
    if (document.get_array().get(events) != simdjson::SUCCESS) return false;
    for (auto element : events) {
      ondemand::value value;
      ondemand::object object;
      if (std::move(element).get(value) != simdjson::SUCCESS) return false;
      const char* const at = value.raw_json_token().data();
      if (value.get_object().get(object) != simdjson::SUCCESS) return false;
      if (fields_.Read(document, object) != simdjson::SUCCESS) return false;
      if (fields_.phase.empty()) return false;
      const auto place = static_cast<size_t>(at - (text + window.begin));
      recorder_.Record(fields_, window.offset + place, {at, static_cast<size_t>(text + end - at)});
      if (batch_->issues.Any()) return false;  // to be told with the event alone
    }
    // A bracket that is too many would have ended the array before the text's end.
    const char* after_array;
    return document.current_location().get(after_array) == simdjson::OUT_OF_BOUNDS;
  }();
  text[end] = after;
  return parsed;
}

void EventParser::Impl::ParseOneByOne(std::string_view text, uint64_t offset) {
  EventStarts starts(text);
  requote_bytes_left_ = kRequotes * text.size();
  for (size_t at = 0; at < text.size();) {
    at = AfterBlanksFrom(text, at);
    if (at == text.size()) break;
    const uint64_t place = offset + at;
    if (text[at] != '{') {
      const std::string_view other = text.substr(at, OtherEnd(text, at) - at);
      const bool array = other.size() > 1 && other[0] == '[';  // a whole one
      const size_t length = array ? other.size() : EndOfBroken(other, starts.NextAfter(at) - at);
      batch_->issues.Add(IssueKind::kNotAnEvent, place, other.substr(0, length));
      at += length;
      continue;
    }
    const EventExtent extent = ObjectExtent(text, at);
    const std::string_view event = text.substr(at, extent.end - at);
    if (extent.closed && ParseClosed(event, place)) {
      at = extent.end;
      continue;
    }
    if (extent.closed && ParseMended(event, place)) {
      at = extent.end;
    } else {
      at += ParseBroken(text.substr(at), event.size(), starts.NextAfter(at) - at, place);
    }
  }
}

// False when it is no JSON.
bool EventParser::Impl::ParseClosed(std::string_view event, uint64_t offset) {
  if (DepthMax(event) > limits_.depth_max) {
    batch_->issues.Add(IssueKind::kEventTooDeep, offset, event);
    return true;
  }
  switch (ParseAlone(event)) {
    case Outcome::kDone:
      recorder_.Record(fields_, offset, event);
      return true;
    case Outcome::kEmpty:
      return true;
    case Outcome::kBroken:
      return false;
  }
  return false;
}

EventParser::Impl::Outcome EventParser::Impl::ParseAlone(std::string_view event) {
  alone_.assign(event);
  alone_.append(simdjson::SIMDJSON_PADDING, ' ');
  ondemand::document document;
  ondemand::object object;
  if (Checked(event_parser_.iterate(alone_.data(), event.size(), alone_.size()).get(document)) !=
          simdjson::SUCCESS ||
      document.get_object().get(object) != simdjson::SUCCESS) {
    return Outcome::kBroken;
  }
  bool empty = true;
  if (object.is_empty().get(empty) == simdjson::SUCCESS && empty) return Outcome::kEmpty;
  if (fields_.Read(document, object) != simdjson::SUCCESS) return Outcome::kBroken;
  return Outcome::kDone;
}

// `text` begins with an event that cannot be mended as it stands, and seems to be `length` long,
// which quotes that were lost can make too long or too short; the next one seems to begin at
// `next`. Returns how long it is. Mends the quotes, or counts it.
size_t EventParser::Impl::ParseBroken(std::string_view text, size_t length, size_t next,
                                      uint64_t offset) {
  const size_t to_next = std::min(next, text.size());
  if (to_next > length && ParseRequoted(WithoutComma(text.substr(0, to_next)), offset)) {
    return to_next;
  }
  const std::string_view seeming = text.substr(0, length);
  const size_t end = EndOfBroken(seeming, next);
  const std::string_view event = WithoutComma(seeming.substr(0, end));
  if (DepthMax(event) > limits_.depth_max) {
    batch_->issues.Add(IssueKind::kEventTooDeep, offset, event);
  } else if (!ParseRequoted(event, offset)) {
    batch_->issues.Add(IssueKind::kMalformedEvent, offset, event);
  }
  return end;
}

// What can be mended without guessing is. False when it is no event even so.
bool EventParser::Impl::ParseMended(std::string_view event, uint64_t offset) {
  const JsonRepair repair = RepairJson(event, mended_);
  if (ParseAlone(mended_) != Outcome::kDone) return false;
  if (repair.text) batch_->issues.Add(IssueKind::kRepairedText, offset, event);
  if (repair.non_finite) batch_->issues.Add(IssueKind::kNonFiniteNumber, offset, event);
  recorder_.Record(fields_, offset, event);
  return true;
}

// The same where quotes must be told from those that were meant as text.
bool EventParser::Impl::ParseRequoted(std::string_view event, uint64_t offset) {
  if (event.size() > requote_bytes_left_) return false;
  requote_bytes_left_ -= event.size();
  std::string requoted;
  if (!RequoteJson(event, requoted) || DepthMax(requoted) > limits_.depth_max) return false;
  const JsonRepair repair = RepairJson(requoted, mended_);
  if (ParseAlone(mended_) != Outcome::kDone) return false;
  if (Unquoted(fields_.phase).size() != 1 || fields_.ts.empty())
    return false;  // a guess gone wrong
  batch_->issues.Add(IssueKind::kRepairedText, offset, event);
  if (repair.non_finite) batch_->issues.Add(IssueKind::kNonFiniteNumber, offset, event);
  recorder_.Record(fields_, offset, event);
  return true;
}

}  // namespace tracedb
