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

size_t NextEventWithPhase(std::string_view text) {
  constexpr std::string_view kPhase = "\"ph\"";
  for (size_t at = text.find('{', 1); at != kNone; at = text.find('{', at + 1)) {
    const size_t key = SkipBlanks(text, at + 1);
    if (text.substr(key, kPhase.size()) != kPhase) continue;
    const size_t colon = SkipBlanks(text, key + kPhase.size());
    if (colon < text.size() && text[colon] == ':') return at;
  }
  return kNone;
}

}  // namespace tracedb
