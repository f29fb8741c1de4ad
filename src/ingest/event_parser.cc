#include "ingest/event_parser.h"

#include <array>
#include <cstring>
#include <string>
#include <vector>

#include "ingest/event_fields.h"
#include "ingest/event_layouts.h"
#include "ingest/event_recorder.h"
#include "ingest/event_resync.h"
#include "ingest/event_scan.h"
#include "ingest/json_text.h"

namespace tracedb {
namespace {

using simdjson::error_code;
namespace ondemand = simdjson::ondemand;

// One event's extent in a window, found without the fast scan: for windows in which something is
// wrong.
struct EventExtent {
  size_t begin = 0;
  size_t end = 0;  // behind the closing brace; == text size when it never closes
  int depth_max = 0;
};

EventExtent NextEvent(std::string_view text, size_t from) {
  EventExtent extent;
  extent.begin = from;
  int depth = 0;
  bool in_string = false;
  bool escaped = false;
  for (size_t at = from; at < text.size(); ++at) {
    const char c = text[at];
    if (in_string) {
      if (c == '"' && !escaped) in_string = false;
      escaped = c == '\\' && !escaped;
    } else if (c == '"') {
      in_string = true;
      escaped = false;
    } else if (c == '{' || c == '[') {
      extent.depth_max = std::max(extent.depth_max, ++depth);
    } else if ((c == '}' || c == ']') && --depth <= 0) {
      extent.end = at + 1;
      return extent;
    } else if (c == ',' && depth == 0) {  // an element that is no object
      extent.end = at;
      return extent;
    }
  }
  extent.end = text.size();
  return extent;
}

// How much of a text that is no event belongs to the broken one: a brace that is missing makes it
// swallow those behind it.
size_t EndOfBroken(std::string_view event) {
  return std::min({NextEventBehindLostQuote(event), NextEventWithPhase(event), event.size()});
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
  bool ParseMended(std::string_view event, uint64_t offset);

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
  std::string mended_;
  EventBatch* batch_ = nullptr;
};

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
  while (begin < end && blank(begin)) ++begin;
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
  batch.slots.clear();
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
    if (IsJsonBlank(text[at]) || text[at] == ',') {
      ++at;
      continue;
    }
    const char* const behind = layouts_.Match(text.data() + at, end, offset + at, *batch_);
    if (behind != nullptr) {
      ++known;
      at = static_cast<size_t>(behind - text.data());
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

// Parses the event at `at`, learns its layout, and moves `at` behind it.
bool EventParser::Impl::ParseNext(std::string_view text, size_t& at, uint64_t offset) {
  if (text[at] != '{') return false;
  constexpr size_t kScanBytes = 1024;
  EventScanState state;
  const char* const begin = text.data() + at;
  const char* const end = text.data() + text.size();
  const char* event_end = nullptr;
  for (const char* from = begin; from != end && event_end == nullptr;) {
    const char* const to = from + std::min<size_t>(kScanBytes, static_cast<size_t>(end - from));
    const EventScan found = ScanEvents(state, from, to);
    event_end = found.first_end;
    from = to;
  }
  if (event_end == nullptr) return false;
  const std::string_view event(begin, static_cast<size_t>(event_end - begin));
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
  const char behind = text[end];
  text[end] = ']';
  const bool parsed = [&] {
    const size_t length = end + 1 - (begin - 1);
    ondemand::document document;
    if (window_parser_.iterate(text + begin - 1, length, length + simdjson::SIMDJSON_PADDING)
            .get(document) != simdjson::SUCCESS) {
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
    return true;
  }();
  text[end] = behind;
  return parsed;
}

void EventParser::Impl::ParseOneByOne(std::string_view text, uint64_t offset) {
  for (size_t at = 0; at < text.size();) {
    if (IsJsonBlank(text[at]) || text[at] == ',') {
      ++at;
      continue;
    }
    const EventExtent extent = NextEvent(text, at);
    const std::string_view event = text.substr(extent.begin, extent.end - extent.begin);
    const uint64_t place = offset + extent.begin;
    at = std::max(extent.end, at + 1);
    if (extent.depth_max > limits_.depth_max) {
      batch_->issues.Add(IssueKind::kEventTooDeep, place, event);
      continue;
    }
    switch (event[0] == '{' ? ParseAlone(event) : Outcome::kBroken) {
      case Outcome::kDone:
        recorder_.Record(fields_, place, event);
        break;
      case Outcome::kBroken:
        if (!ParseMended(event, place)) at = extent.begin + EndOfBroken(event);
        break;
      case Outcome::kEmpty:
        break;
    }
  }
}

EventParser::Impl::Outcome EventParser::Impl::ParseAlone(std::string_view event) {
  alone_.assign(event);
  alone_.append(simdjson::SIMDJSON_PADDING, ' ');
  ondemand::document document;
  ondemand::object object;
  if (event_parser_.iterate(alone_.data(), event.size(), alone_.size()).get(document) !=
          simdjson::SUCCESS ||
      document.get_object().get(object) != simdjson::SUCCESS) {
    return Outcome::kBroken;
  }
  bool empty = true;
  if (object.is_empty().get(empty) == simdjson::SUCCESS && empty) return Outcome::kEmpty;
  if (fields_.Read(document, object) != simdjson::SUCCESS) return Outcome::kBroken;
  return Outcome::kDone;
}

// False when nothing could be made of it.
bool EventParser::Impl::ParseMended(std::string_view event, uint64_t offset) {
  if (event[0] != '{') {
    batch_->issues.Add(IssueKind::kNotAnEvent, offset, event);
    return true;
  }
  const JsonRepair repair = RepairJson(event, mended_);
  const std::string mended = mended_;
  if (ParseAlone(mended) != Outcome::kDone) {
    batch_->issues.Add(IssueKind::kMalformedEvent, offset, event);
    return false;
  }
  if (repair.text) batch_->issues.Add(IssueKind::kRepairedText, offset, event);
  if (repair.non_finite) batch_->issues.Add(IssueKind::kNonFiniteNumber, offset, event);
  recorder_.Record(fields_, offset, event);
  return true;
}

}  // namespace tracedb
