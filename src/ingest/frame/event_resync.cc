#include "ingest/frame/event_resync.h"

#include <algorithm>
#include <string>

#include "tracedb/json/event_keys.h"
#include "tracedb/json/json_quotes.h"
#include "tracedb/json/json_text.h"

namespace tracedb {
namespace {

constexpr size_t kNone = std::string_view::npos;

size_t SkipBlanks(std::string_view text, size_t at) {
  while (at < text.size() && IsJsonBlank(text[at])) ++at;
  return at;
}

// Whether `"key":` stands at `at`, blanks aside, with one of an event's keys.
bool HasEventKey(std::string_view text, size_t at) {
  at = SkipBlanks(text, at);
  if (at >= text.size() || text[at] != '"') return false;
  for (const std::string_view key : kEventKeys) {
    if (text.substr(at + 1, key.size()) != key) continue;
    const size_t after = at + 1 + key.size();
    if (after >= text.size() || text[after] != '"') continue;
    const size_t colon = SkipBlanks(text, after + 1);
    if (colon < text.size() && text[colon] == ':') return true;
  }
  return false;
}

// Whether "}," stands in front of `at`, blanks aside.
bool EndsBefore(std::string_view text, size_t at) {
  while (at > 0 && IsJsonBlank(text[at - 1])) --at;
  if (at == 0 || text[--at] != ',') return false;
  while (at > 0 && IsJsonBlank(text[at - 1])) --at;
  return at > 0 && text[at - 1] == '}';
}

// Whether the bracket at `at` stands after a brace, and before a key or the last brace.
bool EndsArray(std::string_view text, size_t at) {
  size_t before = at;
  while (before > 0 && IsJsonBlank(text[before - 1])) --before;
  if (before == 0 || text[before - 1] != '}') return false;
  size_t after = SkipBlanks(text, at + 1);
  if (after == text.size()) return true;
  const char c = text[after];
  after = SkipBlanks(text, after + 1);
  if (c == '}') return after == text.size();
  return c == ',' && after < text.size() && text[after] == '"';
}

// Whether a comma stands in front of `at`, blanks aside.
bool CommaBefore(std::string_view text, size_t at) {
  while (at > 0 && IsJsonBlank(text[at - 1])) --at;
  return at > 0 && text[at - 1] == ',';
}

// Whether `"ph": "X"`, with any letter, stands at `at`, blanks aside.
bool IsPhase(std::string_view text, size_t at) {
  constexpr std::string_view kPhase = "\"ph\"";
  at = SkipBlanks(text, at);
  if (text.substr(at, kPhase.size()) != kPhase) return false;
  at = SkipBlanks(text, at + kPhase.size());
  if (at >= text.size() || text[at] != ':') return false;
  at = SkipBlanks(text, at + 1);
  return at + 2 < text.size() && text[at] == '"' && text[at + 2] == '"';
}

}  // namespace

bool EventStarts::IsStart(size_t at) {
  if (!HasEventKey(text_, at + 1) || !CommaBefore(text_, at)) return false;
  return IsPhase(text_, at + 1) || HasPhase(at);
}

// Whether the object at `at` has a phase among its own keys, whatever comes first.
bool EventStarts::HasPhase(size_t at) {
  constexpr size_t kLookBytes = 4096;
  const size_t end = std::min({text_.size(), at + kLookBytes, at + look_bytes_left_});
  JsonQuotes quotes;
  int depth = 0;
  bool found = false;
  size_t to = at;
  for (; to < end && !found; ++to) {
    const char c = text_[to];
    const bool was_in_string = quotes.in_string();
    if (quotes.Outside(c)) {
      if (c == '{' || c == '[') ++depth;
      if ((c == '}' || c == ']') && --depth == 0) break;
    } else if (!was_in_string) {
      found = depth == 1 && IsPhase(text_, to);
    }
  }
  look_bytes_left_ -= to - at;
  return found;
}

size_t EventStarts::NextAfter(size_t at) {
  if (found_ != kNone && found_ > at) return found_;
  for (size_t from = std::max(searched_, at + 1);; from = searched_) {
    found_ = text_.find('{', from);
    searched_ = found_ == kNone ? text_.size() : found_ + 1;
    if (found_ == kNone || IsStart(found_)) return found_;
  }
}

size_t NextEventAfterLostQuote(std::string_view text) {
  JsonQuotes quotes;
  for (size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (quotes.in_string() && c == '{' && EndsBefore(text, at) && HasEventKey(text, at + 1))
      return at;
    quotes.Outside(c);
  }
  return kNone;
}

size_t ArrayEndAfterLostQuote(std::string_view text) {
  JsonQuotes quotes;
  for (size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (quotes.in_string() && c == ']' && EndsArray(text, at)) return at;
    quotes.Outside(c);
  }
  return kNone;
}

size_t LastEventWithPhase(std::string_view text) {
  EventStarts starts(text);
  size_t last = kNone;
  for (size_t at = starts.NextAfter(0); at != kNone; at = starts.NextAfter(at)) last = at;
  return last;
}

size_t ArrayEndAfterLostBrace(std::string_view text) {
  std::string open;
  JsonQuotes quotes;
  for (size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (!quotes.Outside(c)) continue;
    if (c == '{' || c == '[') open += c;
    if ((c != '}' && c != ']') || open.empty()) continue;
    if (c == ']' && open.back() == '{' && EndsArray(text, at)) return at;
    if (open.back() == (c == '}' ? '{' : '[')) open.pop_back();
  }
  return kNone;
}

bool MayEndArray(std::string_view text) {
  JsonQuotes quotes;
  bool value = false;  // one has been seen since the last comma, and it is over
  size_t word = 0;     // length of the bare word that is being read
  for (const char c : text) {
    const bool was_in_string = quotes.in_string();
    if (!quotes.Outside(c)) {
      if (was_in_string) continue;
      if (value || word > 0) return false;  // two values with no comma between them
      value = true;
    } else if (c == ',') {
      value = false;
      word = 0;
    } else if (IsJsonBlank(c)) {
      value = value || word > 0;
      word = 0;
    } else if (value || ++word > 32) {  // longer than any number or literal
      return false;
    }
  }
  return true;
}

}  // namespace tracedb
