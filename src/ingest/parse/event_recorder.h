// An event's fields -> its record in a batch: times to nanoseconds, texts to the parser's own
// numbers. One belongs to one parser. Its dictionaries are bounded: when they are full it forgets
// them and says so in the batch.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "ingest/parse/event_batch.h"
#include "ingest/parse/event_fields.h"
#include "tracedb/memory/load_limits.h"
#include "tracedb/memory/text_dictionary.h"

namespace tracedb {

class EventRecorder {
 public:
  EventRecorder(const LoadLimits& limits, bool keep_args)
      : limits_(limits), keep_args_(keep_args) {}

  // What follows goes into `batch`. True when the texts' numbers begin anew.
  bool Begin(EventBatch& batch);
  // Appends the record, or an issue when the event cannot be one. `event` is its text, for the
  // issue. May change `fields`.
  void Record(EventFields& fields, uint64_t offset, std::string_view event);

 private:
  bool RecordTimes(const EventFields& fields, EventRecord& record, uint64_t offset,
                   std::string_view event);
  void RecordTexts(EventFields& fields, EventRecord& record);
  enum class TrackKind : uint8_t { kThread, kGpuStream, kSync };
  static TrackKind TrackKindOf(std::string_view category);
  void AddTrackKey(const EventFields& fields, TrackKind kind);
  void RecordValues(const EventFields& fields, EventRecord& record);
  uint32_t Intern(TextKind kind, std::string_view text);

  LoadLimits limits_;
  bool keep_args_;
  std::array<TextDictionary, kTextKinds> dictionaries_;
  std::vector<TrackKind> name_track_;  // of the slices with this name
  std::string key_;
  std::string last_track_key_;
  uint32_t last_track_ = 0;
  EventBatch* batch_ = nullptr;
};

}  // namespace tracedb
