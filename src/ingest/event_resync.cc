#include "ingest/event_resync.h"

#include <algorithm>
#include <string>

#include "ingest/json_text.h"

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
  for (const std::string_view key : {"ph", "name", "cat", "pid", "tid", "ts", "args", "id"}) {
    if (text.substr(at + 1, key.size()) != key) continue;
    const size_t behind = at + 1 + key.size();
    if (behind >= text.size() || text[behind] != '"') continue;
    const size_t colon = SkipBlanks(text, behind + 1);
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

// Whether the bracket at `at` stands behind a brace, and before a key or the last brace.
bool EndsArray(std::string_view text, size_t at) {
  size_t before = at;
  while (before > 0 && IsJsonBlank(text[before - 1])) --before;
  if (before == 0 || text[before - 1] != '}') return false;
  size_t behind = SkipBlanks(text, at + 1);
  if (behind == text.size()) return true;
  const char c = text[behind];
  behind = SkipBlanks(text, behind + 1);
  if (c == '}') return behind == text.size();
  return c == ',' && behind < text.size() && text[behind] == '"';
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
  bool in_string = false;
  bool escaped = false;
  int depth = 0;
  size_t to = at;
  bool found = false;
  for (; to < end; ++to) {
    const char c = text_[to];
    if (in_string) {
      if (c == '"' && !escaped) in_string = false;
      escaped = c == '\\' && !escaped;
    } else if (c == '"') {
      found = depth == 1 && IsPhase(text_, to);
      if (found) break;
      in_string = true;
      escaped = false;
    } else if (c == '{' || c == '[') {
      ++depth;
    } else if ((c == '}' || c == ']') && --depth == 0) {
      break;
    }
  }
  look_bytes_left_ -= to - at;
  return found;
}

size_t EventStarts::NextBehind(size_t at) {
  if (found_ != kNone && found_ > at) return found_;
  for (size_t from = std::max(searched_, at + 1);; from = searched_) {
    found_ = text_.find('{', from);
    searched_ = found_ == kNone ? text_.size() : found_ + 1;
    if (found_ == kNone || IsStart(found_)) return found_;
  }
}

size_t NextEventBehindLostQuote(std::string_view text) {
  bool in_string = false;
  bool escaped = false;
  for (size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (in_string && c == '{' && EndsBefore(text, at) && HasEventKey(text, at + 1)) return at;
    if (c == '"' && !escaped) in_string = !in_string;
    escaped = in_string && c == '\\' && !escaped;
  }
  return kNone;
}

size_t ArrayEndBehindLostQuote(std::string_view text) {
  bool in_string = false;
  bool escaped = false;
  for (size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (in_string && c == ']' && EndsArray(text, at)) return at;
    if (c == '"' && !escaped) in_string = !in_string;
    escaped = in_string && c == '\\' && !escaped;
  }
  return kNone;
}

size_t LastEventWithPhase(std::string_view text) {
  EventStarts starts(text);
  size_t last = kNone;
  for (size_t at = starts.NextBehind(0); at != kNone; at = starts.NextBehind(at)) last = at;
  return last;
}

size_t ArrayEndBehindLostBrace(std::string_view text) {
  std::string open;
  bool in_string = false;
  bool escaped = false;
  for (size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (in_string) {
      if (c == '"' && !escaped) in_string = false;
      escaped = c == '\\' && !escaped;
    } else if (c == '"') {
      in_string = true;
      escaped = false;
    } else if (c == '{' || c == '[') {
      open += c;
    } else if (c == '}' || c == ']') {
      const char wanted = c == '}' ? '{' : '[';
      if (c == ']' && !open.empty() && open.back() == '{' && EndsArray(text, at)) return at;
      if (!open.empty() && open.back() == wanted) open.pop_back();
    }
  }
  return kNone;
}

bool MayEndArray(std::string_view text) {
  bool in_string = false;
  bool escaped = false;
  bool value = false;  // one has been seen since the last comma, and it is over
  size_t word = 0;     // length of the bare word that is being read
  for (const char c : text) {
    if (in_string) {
      if (c == '"' && !escaped) in_string = false;
      escaped = c == '\\' && !escaped;
    } else if (c == ',') {
      value = false;
      word = 0;
    } else if (IsJsonBlank(c)) {
      value = value || word > 0;
      word = 0;
    } else {
      if (value) return false;  // two values with no comma between them
      if (c == '"') {
        if (word > 0) return false;
        in_string = value = true;
        escaped = false;
      } else if (++word > 32) {
        return false;  // longer than any number or literal
      }
    }
  }
  return true;
}

}  // namespace tracedb
