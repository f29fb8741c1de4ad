#include "ingest/event_resync.h"

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

// Whether the object at `at` has a phase, as far as that is told by its first keys: up to a
// bracket, and up to a limit that keeps the search linear.
bool HasPhase(std::string_view text, size_t at) {
  constexpr size_t kLookBytes = 512;
  constexpr std::string_view kPhase = "\"ph\"";
  const std::string_view keys = text.substr(at + 1, kLookBytes);
  for (size_t key = keys.find(kPhase); key != kNone; key = keys.find(kPhase, key + 1)) {
    const size_t colon = SkipBlanks(keys, key + kPhase.size());
    if (colon < keys.size() && keys[colon] == ':') {
      return keys.substr(0, key).find_first_of("{}") == kNone;
    }
  }
  return false;
}

bool IsEventStart(std::string_view text, size_t at) {
  return text[at] == '{' && HasEventKey(text, at + 1) && EndsBefore(text, at) && HasPhase(text, at);
}

}  // namespace

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

size_t NextEventWithPhase(std::string_view text) {
  for (size_t at = text.find('{', 1); at != kNone; at = text.find('{', at + 1)) {
    if (IsEventStart(text, at)) return at;
  }
  return kNone;
}

size_t LastEventWithPhase(std::string_view text) {
  for (size_t at = text.rfind('{'); at != kNone && at > 0; at = text.rfind('{', at - 1)) {
    if (IsEventStart(text, at)) return at;
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
