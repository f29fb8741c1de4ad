#include "ingest/header_reader.h"

namespace tracedb {
namespace {

bool IsBlank(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }

constexpr std::string_view kBom = "\xef\xbb\xbf";
constexpr std::string_view kEventsKey = "\"traceEvents\":[";

}  // namespace

size_t HeaderReader::Read(std::string_view text, uint64_t offset) {
  for (size_t i = 0; i < text.size(); ++i) {
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
        } else if (!IsBlank(c)) {
          Lose(offset + i);
        }
        break;
      case State::kValue:
        Value(c, offset + i);
        break;
      case State::kInString:
        InString(c);
        break;
      case State::kInNested:
        InNested(c);
        break;
      case State::kInScalar:
        if (c == ',' || c == '}' || IsBlank(c)) {
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
        break;
      case State::kDone:
        if (garbage_.empty() && (IsBlank(c) || c == '\0')) break;
        if (garbage_.empty()) garbage_offset_ = offset + i;
        if (garbage_.size() < EventIssues::kExcerptBytes) garbage_ += c;
        break;
      case State::kNotJson:
        return text.size();
      case State::kEvents:
        break;
    }
    if (state_ == State::kEvents) {
      if (++event_arrays_ == 2) {
        issues_.Add(IssueKind::kRepeatedEventArray, offset + i, "traceEvents");
      }
      return i + 1;
    }
  }
  return text.size();
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
  } else if (!IsBlank(c)) {
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
  } else if (!IsBlank(c) && c != ',') {
    Lose(offset);
  }
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
  if (IsBlank(c)) return;
  value_.clear();
  value_offset_ = offset;
  over_limit_ = false;
  escaped_ = false;
  if (c == '[' && key_ == "traceEvents") {
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
  } else if (c == ',' || c == '}') {
    Lose(offset);
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
  } else if (!IsBlank(c)) {
    Lose(offset);
  }
}

// The header is broken here; the events may still be good. Looks for where their array begins.
void HeaderReader::Lose(uint64_t offset) {
  issues_.Add(IssueKind::kHeaderMalformed, offset, key_);
  matched_ = 0;
  state_ = State::kLost;
}

void HeaderReader::SearchEvents(char c) {
  if (matched_ + 2 >= kEventsKey.size() && IsBlank(c)) return;  // around the colon
  if (c == kEventsKey[matched_]) {
    if (++matched_ == kEventsKey.size()) state_ = State::kEvents;
    return;
  }
  matched_ = c == kEventsKey[0] ? 1 : 0;
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
