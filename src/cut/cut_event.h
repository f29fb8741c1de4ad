// An event of the database as the JSON that it was read from.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "cut/cut_rows.h"
#include "cut/cut_source.h"
#include "cut/cut_texts.h"
#include "tracedb/base/result.h"
#include "tracedb/base/sqlite_db.h"

namespace tracedb {

// Ids (of flows and asynchronous events) of several traces in one file: each trace's are distinct
// from the others'. One trace alone keeps its own.
struct IdSpace {
  int64_t traces = 1;
  int64_t index = 0;  // of this trace
};

// An id as it is written, with or without quotes as `quoted` says it stands in the text.
void AppendId(std::string& out, std::string_view id, bool quoted, const IdSpace& space);

struct EventTimes {
  std::optional<int64_t> ts_ns;  // as written, before microseconds
  std::optional<int64_t> dur_ns;
};

// Process and thread, as JSON.
struct EventPlace {
  std::string pid_json;
  std::string tid_json;
};

class CutEventText {
 public:
  static Result<CutEventText> Open(SqliteDb& db);

  // How a row goes back. A slice that was made of two events is two again where a complete event
  // would be read otherwise, or is drawn in the wrong place (asynchronous ones overlap).
  enum class Form { kAsItIs, kBeginEnd, kAsyncPair };
  Result<Form> FormOf(const CutRow& row, const CutEventName& event_name, const CutTrack& track);
  static int EventsOf(Form form) { return form == Form::kAsItIs ? 1 : 2; }

  // An event that would be no JSON is an error.
  static Status Append(std::string& out, Form form, const CutRow& row,
                       const CutEventName& event_name, const CutArgsText* args_text,
                       const EventPlace& place, const EventTimes& times, const IdSpace& ids);

 private:
  explicit CutEventText(SqliteStatement step) : step_(std::move(step)) {}

  SqliteStatement step_;  // whether a slice is a row of `step`
};

}  // namespace tracedb
