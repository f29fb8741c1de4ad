// What the tests of the event parser share: events parsed from a text, with their texts and column
// values put back in place.
#pragma once

#include <array>
#include <bit>
#include <cstring>
#include <map>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ingest/parse/event_batch.h"
#include "ingest/parse/event_parser.h"
#include "tracedb/schema/args_columns.h"

namespace tracedb::test {

inline constexpr size_t kDictionaryBytes = 1 << 20;
inline constexpr ParseWay kParseWays[] = {ParseWay::kByLayout, ParseWay::kWhole,
                                          ParseWay::kOneByOne};

inline LoadLimits ParserLimits() {
  LoadLimits limits;
  limits.window_bytes = 1 << 16;
  limits.event_bytes_max = 1 << 20;
  limits.dictionary_bytes_max = kDictionaryBytes;
  return limits;
}

struct ParsedEvent {
  uint64_t offset = 0;
  char phase = 0;
  std::optional<int64_t> ts_ns, dur_ns;
  std::string name;
  std::optional<std::string> category;
  std::string track;                         // parts with '/' between them
  std::map<ArgsColumn, std::string> values;  // as they would be written
  uint32_t text_slots = 0;
  std::string args, others;  // put back together
  bool has_id = false;
  uint64_t async_key = 0;

  bool operator==(const ParsedEvent&) const = default;
};

inline void PrintTo(const ParsedEvent& event, std::ostream* out) {
  *out << event.phase << " at " << event.offset << " " << event.name << " on " << event.track
       << " args " << event.args << " others " << event.others;
}

// `text` with every column mark replaced by its value.
inline std::string Filled(std::string_view text, const std::map<ArgsColumn, std::string>& values) {
  std::string filled;
  for (const char c : text) {
    if (!IsArgsMark(c)) {
      filled += c;
      continue;
    }
    int column = 0;
    while (ArgsMark(column) != c) ++column;
    const auto value = values.find(static_cast<ArgsColumn>(column));
    filled += value == values.end() ? "<no value>" : value->second;
  }
  return filled;
}

// Follows a parser's batches, as the record builder does, and resolves its numbers.
class BatchReader {
 public:
  std::vector<ParsedEvent> Read(const EventBatch& batch) {
    if (batch.forgot) {
      for (auto& texts : texts_) texts.clear();
    }
    for (const EventBatch::NewText& text : batch.new_texts) {
      auto& known = texts_[static_cast<size_t>(text.kind)];
      if (text.id != known.size()) ++wrong_numbers_;
      known.emplace_back(batch.Text(text));
    }
    std::vector<ParsedEvent> events;
    for (const EventRecord& record : batch.events) events.push_back(ReadEvent(batch, record));
    return events;
  }
  int wrong_numbers() const { return wrong_numbers_; }

 private:
  ParsedEvent ReadEvent(const EventBatch& batch, const EventRecord& record) {
    ParsedEvent event;
    event.offset = record.offset;
    event.phase = record.phase;
    if (record.has_ts) event.ts_ns = record.ts_ns;
    if (record.has_dur) event.dur_ns = record.dur_ns;
    event.async_key = batch.AsyncKey(record);
    const auto& [event_names, tracks, args_texts] = texts_;
    const std::string& event_name = event_names.at(record.event_name);
    const size_t part = event_name.find(kPartMark);
    event.name = event_name.substr(0, part);
    if (event_name.back() != kAbsentMark) event.category = event_name.substr(part + 1);
    for (const char c : tracks.at(record.track)) event.track += c == kPartMark ? '/' : c;
    size_t at = record.values_at;
    event.text_slots = record.text_mask;
    for (uint32_t left = record.columns_mask; left != 0; left &= left - 1) {
      const int column = std::countr_zero(left);
      const int64_t value = batch.values.at(at++);
      event.values[static_cast<ArgsColumn>(column)] = (record.text_mask >> column & 1) != 0
                                                          ? std::string(batch.ValueText(value))
                                                          : std::to_string(value);
    }
    if (record.args_text == kNoText) return event;
    const std::string& args_text = args_texts.at(record.args_text);
    const size_t others = args_text.find(kPartMark);
    event.args = Filled(args_text.substr(0, others), event.values);
    if (others != std::string::npos)
      event.others = Filled(args_text.substr(others + 1), event.values);
    return event;
  }

  std::array<std::vector<std::string>, kTextKinds> texts_;
  int wrong_numbers_ = 0;
};

struct Parsed {
  std::vector<ParsedEvent> events;
  EventIssues issues;

  uint64_t Count(IssueKind kind) const { return issues.entry(kind).count; }
};

inline EventWindow WindowOf(std::string_view text, uint64_t offset) {
  EventWindow window;
  window.SetRoom(text.size());
  window.begin = EventWindow::kFrontBytes;
  window.end = window.begin + text.size();
  window.offset = offset;
  std::memcpy(window.data() + window.begin, text.data(), text.size());
  return window;
}

struct ParseOptions {
  ParseWay way = ParseWay::kByLayout;
  bool keep_args = true;
  uint64_t offset = 1000;  // of the text in the stream
};

// Parses the events in `text`, as they stand in the event array.
inline Parsed ParseText(std::string_view text, ParseOptions options = {}) {
  EventParser parser(ParserLimits(), 0, options.keep_args, options.way);
  EventWindow window = WindowOf(text, options.offset);
  EventBatch batch;
  parser.Parse(window, batch);
  Parsed parsed;
  parsed.events = BatchReader().Read(batch);
  parsed.issues = batch.issues;
  return parsed;
}

}  // namespace tracedb::test
