#include "ingest/frame/header_reader.h"

#include "tracedb/json/event_keys.h"
#include "tracedb/json/json_blanks.h"
#include "tracedb/json/json_text.h"

namespace tracedb {
namespace {

constexpr std::string_view kBom = "\xef\xbb\xbf";
constexpr std::string_view kEventsKey = "\"traceEvents\":[";

}  // namespace

size_t HeaderReader::Read(std::string_view text, uint64_t offset) {
  resumed_bytes_ = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (IsJsonBlank(text[i])) i = SkipBlanks(text, i);
    if (i == text.size()) break;
    const char c = text[i];
    switch (state_) {
      case State::kStart:
        Start(c);
        break;
      case State::kKey:
        Key(c, offset + i);
        break;
      case State::kInKey:
        InKey(c);
        break;
      case State::kColon:
        if (c == ':') {
          state_ = State::kValue;
        } else if (!IsJsonBlank(c)) {
          Lose(offset + i);
        }
        break;
      case State::kValue:
        Value(c, offset + i);
        break;
      case State::kInString:
        InString(c);
        SearchEventsInValue(c, offset + i);
        break;
      case State::kInNested:
        InNested(c);
        SearchEventsInValue(c, offset + i);
        break;
      case State::kInScalar:
        if (c == ',' || c == '}' || IsJsonBlank(c)) {
          EndValue();
          AfterValue(c, offset + i);
        } else {
          Keep(c);
        }
        break;
      case State::kAfterValue:
        AfterValue(c, offset + i);
        break;
      case State::kLost:
        SearchEvents(c);
        SearchNextKey(c);
        SearchNextEvent(c, offset + i);
        break;
      case State::kDone:
        AfterHeader(c, offset + i);
        break;
      case State::kNotJson:
        return text.size();
      case State::kEvents:
        break;
    }
    if (state_ == State::kEvents) {
      if (resumed_bytes_ == 0 && ++event_arrays_ == 2) {
        issues_.Add(IssueKind::kRepeatedEventArray, offset + i, "traceEvents");
      }
      return i + 1;
    }
  }
  return text.size();
}

// From the blank at `at` to where something is to be done again: blanks between keys and values
// mean nothing.
size_t HeaderReader::SkipBlanks(std::string_view text, size_t at) {
  switch (state_) {
    case State::kStart:
    case State::kKey:
    case State::kColon:
    case State::kValue:
    case State::kAfterValue:
      break;
    case State::kInNested:
      if (in_string_ || !over_limit_) return at;
      if (matched_ + 2 < kEventsKey.size()) matched_ = 0;
      break;
    case State::kDone:
      if (!garbage_.empty()) return at;
      break;
    default:
      return at;
  }
  const char* const begin = text.data();
  return static_cast<size_t>(AfterBlanks(begin + at, begin + text.size()) - begin);
}

void HeaderReader::EndEvents() { state_ = array_form_ ? State::kDone : State::kAfterValue; }

void HeaderReader::Finish() {
  if (!garbage_.empty()) issues_.Add(IssueKind::kTrailingGarbage, garbage_offset_, garbage_);
}

void HeaderReader::Start(char c) {
  if (bom_ < 3 && c == kBom[static_cast<size_t>(bom_)]) {
    ++bom_;
  } else if (c == '{') {
    state_ = State::kKey;
  } else if (c == '[') {
    array_form_ = true;
    state_ = State::kEvents;
  } else if (!IsJsonBlank(c)) {
    refused_ = c;
    state_ = State::kNotJson;
  }
}

void HeaderReader::Key(char c, uint64_t offset) {
  if (c == '"') {
    key_.clear();
    escaped_ = false;
    state_ = State::kInKey;
  } else if (c == '}') {
    state_ = State::kDone;
  } else if (c == '{' && event_arrays_ > 0) {
    issues_.Add(IssueKind::kHeaderMalformed, offset, "events after the end of their array");
    ResumeEvents(offset, offset);
  } else if (!IsJsonBlank(c) && c != ',') {
    Lose(offset);
  }
}

// An object where a key should be: the array's end was not its end.
void HeaderReader::ResumeEvents(uint64_t event_offset, uint64_t offset) {
  resumed_bytes_ = offset + 1 - event_offset;
  garbage_.clear();
  state_ = State::kEvents;
}

void HeaderReader::InKey(char c) {
  if (c == '"' && !escaped_) {
    state_ = State::kColon;
    return;
  }
  escaped_ = c == '\\' && !escaped_;
  if (key_.size() < 1024) key_ += c;
}

void HeaderReader::Value(char c, uint64_t offset) {
  if (IsJsonBlank(c)) return;
  value_.clear();
  value_offset_ = offset;
  over_limit_ = false;
  escaped_ = false;
  matched_ = 0;
  if (c == '[' && UnescapedJson(key_) == "traceEvents") {
    state_ = State::kEvents;
    return;
  }
  Keep(c);
  if (c == '"') {
    state_ = State::kInString;
  } else if (c == '{' || c == '[') {
    depth_ = 1;
    in_string_ = false;
    state_ = State::kInNested;
  } else if (c == ',' || c == '}') {  // not written
    issues_.Add(IssueKind::kHeaderMalformed, offset, key_);
    AfterValue(c, offset);
  } else {
    state_ = State::kInScalar;
  }
}

void HeaderReader::InString(char c) {
  Keep(c);
  if (c == '"' && !escaped_) {
    EndValue();
    return;
  }
  escaped_ = c == '\\' && !escaped_;
}

void HeaderReader::InNested(char c) {
  Keep(c);
  if (in_string_) {
    if (c == '"' && !escaped_) in_string_ = false;
    escaped_ = c == '\\' && !escaped_;
    return;
  }
  if (c == '"') {
    in_string_ = true;
    escaped_ = false;
  } else if (c == '{' || c == '[') {
    ++depth_;
  } else if ((c == '}' || c == ']') && --depth_ == 0) {
    EndValue();
  }
}

void HeaderReader::AfterValue(char c, uint64_t offset) {
  if (c == ',') {
    state_ = State::kKey;
  } else if (c == '}') {
    state_ = State::kDone;
  } else if (!IsJsonBlank(c)) {
    Lose(offset);
  }
}

void HeaderReader::AfterHeader(char c, uint64_t offset) {
  if (garbage_.empty() && (IsJsonBlank(c) || c == '\0')) return;
  if (garbage_.empty()) garbage_offset_ = offset;
  if (garbage_.size() < EventIssues::kExcerptBytes) garbage_ += c;
  SearchNextEvent(c, offset);
}

// The header is broken here; what follows may still be good. Looks for the next key, or for where
// the array of events begins.
void HeaderReader::Lose(uint64_t offset) {
  issues_.Add(IssueKind::kHeaderMalformed, offset, key_);
  lost_offset_ = offset;
  matched_ = 0;
  key_search_ = KeySearch::kBefore;
  state_ = State::kLost;
}

// A key stands after a comma or a line's end, and before a colon.
void HeaderReader::SearchNextKey(char c) {
  constexpr size_t kKeyBytesMax = 64;
  if (state_ != State::kLost) return;
  switch (key_search_) {
    case KeySearch::kBefore:
      break;
    case KeySearch::kAtKey:
      if (IsJsonBlank(c)) return;
      if (c != '"') break;
      key_.clear();
      key_search_ = KeySearch::kInKey;
      return;
    case KeySearch::kInKey:
      if (c == '\n' || key_.size() == kKeyBytesMax) break;
      if (c == '"') {
        key_search_ = KeySearch::kAfterKey;
      } else {
        key_ += c;
      }
      return;
    case KeySearch::kAfterKey:
      if (IsJsonBlank(c)) return;
      if (c != ':') break;
      state_ = State::kValue;
      return;
  }
  key_search_ = c == ',' || c == '\n' ? KeySearch::kAtKey : KeySearch::kBefore;
}

void HeaderReader::SearchEvents(char c) {
  if (matched_ + 2 >= kEventsKey.size() && IsJsonBlank(c)) return;  // around the colon
  if (c == kEventsKey[matched_]) {
    if (++matched_ == kEventsKey.size()) state_ = State::kEvents;
    return;
  }
  matched_ = c == kEventsKey[0] ? 1 : 0;
}

// The array cannot begin inside a string: if it seems so, a quote of this value is lost.
void HeaderReader::SearchEventsInValue(char c, uint64_t offset) {
  const bool in_string = state_ == State::kInString || (state_ == State::kInNested && in_string_);
  if (matched_ + 1 == kEventsKey.size() && c == '[' && in_string) {
    issues_.Add(IssueKind::kHeaderMalformed, offset, key_);
    matched_ = 0;
    state_ = State::kEvents;
    return;
  }
  if (matched_ + 1 == kEventsKey.size() && c == '[') matched_ = 0;
  if (matched_ + 2 >= kEventsKey.size() && IsJsonBlank(c)) return;
  if (c != kEventsKey[matched_]) matched_ = 0;
  matched_ += c == kEventsKey[matched_] ? 1 : 0;
}

// After the events there can be none, unless a bracket of a name was taken for the array's end.
void HeaderReader::SearchNextEvent(char c, uint64_t offset) {
  constexpr std::string_view kBefore = "},{\"";
  constexpr size_t kInKey = kBefore.size();
  if (event_arrays_ == 0) return;
  if (event_matched_ == kInKey) {
    if (c != '"') {
      event_key_ += c;
      if (event_key_.size() > kEventKeyBytesMax) event_matched_ = 0;
      return;
    }
    event_matched_ = IsEventKey(event_key_) ? kInKey + 1 : 0;
    return;
  }
  if (IsJsonBlank(c)) return;
  if (event_matched_ > kInKey) {
    event_matched_ = 0;
    if (c != ':') return;
    issues_.Add(IssueKind::kMalformedEvent, garbage_.empty() ? lost_offset_ : garbage_offset_,
                "the array of events seemed to end before this");
    ResumeEvents(event_offset_, offset);
    return;
  }
  if (c != kBefore[event_matched_]) event_matched_ = 0;
  if (c != kBefore[event_matched_]) return;
  if (c == '{') event_offset_ = offset;
  if (++event_matched_ == kInKey) event_key_.clear();
}

void HeaderReader::Keep(char c) {
  if (over_limit_) return;
  if (kept_bytes_ + key_.size() + value_.size() >= bytes_max_) {
    over_limit_ = true;
    issues_.Add(IssueKind::kHeaderTooLarge, value_offset_, key_);
    value_.clear();
    return;
  }
  value_ += c;
}

void HeaderReader::EndValue() {
  state_ = State::kAfterValue;
  if (over_limit_) return;
  kept_bytes_ += key_.size() + value_.size() + 64;
  entries_.emplace_back(std::move(key_), std::move(value_));
  key_.clear();
  value_.clear();
}

}  // namespace tracedb
