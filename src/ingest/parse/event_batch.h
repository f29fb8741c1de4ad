// What a parser makes of one window: the events in order, as numbers, and the texts that are new
// to it. Numbers of texts are the parser's own; the record builder translates them.
#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tracedb/schema/args_columns.h"
#include "tracedb/schema/event_issues.h"

namespace tracedb {

enum class TextKind : uint8_t {
  kEventName,  // raw name, kPartMark, raw category (kAbsentMark when there is none)
  kTrack,      // pid, kPartMark, tid, and for GPU rows kPartMark, device, kPartMark, stream
  kArgsText,   // args with column marks; kPartMark and the event's other keys where it has any
  kCount
};
inline constexpr int kTextKinds = static_cast<int>(TextKind::kCount);

inline constexpr uint32_t kNoText = 0xffffffff;

// Small, as another core reads it than the one that wrote it.
struct EventRecord {
  static constexpr uint32_t kColumnsMask = 0xffffff;
  static_assert(kArgsColumns <= 24);

  int64_t ts_ns;    // since the trace's own zero
  int64_t dur_ns;   // of X events
  uint64_t offset;  // where the event begins in the unpacked stream
  uint32_t event_name;
  uint32_t track;
  uint32_t args_text;  // kNoText: neither args nor other keys
  // Where its values are in EventBatch::values, in the order of the columns. Of async begins and
  // ends one more comes after them: a hash of id and scope.
  uint32_t values_at;
  uint32_t columns_mask : 24;  // which values are set
  char phase;
  uint32_t text_mask : 24;  // of those, which are texts: offset << 32 | size in EventBatch::texts
  bool has_ts : 1;
  bool has_dur : 1;
};
static_assert(sizeof(EventRecord) == 48);

// Begins and ends that belong together by an id.
constexpr bool IsAsync(char phase) {
  return phase == 'b' || phase == 'e' || phase == 'S' || phase == 'F';
}

struct EventBatch {
  struct NewText {
    TextKind kind;
    uint32_t id;  // the next one of its kind
    uint32_t size;
    size_t at;  // in texts
  };

  uint64_t ordinal = 0;  // of the window it was made from
  unsigned parser = 0;   // whose numbers these are
  bool forgot = false;   // the parser has cleared its dictionaries: its numbers begin anew
  std::vector<EventRecord> events;
  std::vector<int64_t> values;
  std::vector<NewText> new_texts;
  std::string texts;
  EventIssues issues;

  std::string_view Text(const NewText& text) const {
    return std::string_view(texts).substr(text.at, text.size);
  }
  std::string_view ValueText(int64_t value) const {
    const auto bits = static_cast<uint64_t>(value);
    return std::string_view(texts).substr(bits >> 32, bits & 0xffffffff);
  }
  // 0: it is no async begin or end.
  uint64_t AsyncKey(const EventRecord& record) const {
    if (!IsAsync(record.phase)) return 0;
    const auto count = static_cast<size_t>(std::popcount(uint32_t{record.columns_mask}));
    return static_cast<uint64_t>(values[record.values_at + count]);
  }
  void Clear() {
    forgot = false;
    events.clear();
    values.clear();
    new_texts.clear();
    texts.clear();
    issues.Clear();
  }
};

}  // namespace tracedb
