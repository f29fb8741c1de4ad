// Windows of events -> batches of records. A window is parsed in one go as an array; if anything
// in it is not as it should be, event by event, so that one bad event costs only itself.
//
// One parser belongs to one thread. Its dictionaries are bounded: when they are full it forgets
// them and says so in the batch.
#pragma once

#include <memory>

#include "ingest/frame/event_window.h"
#include "ingest/parse/event_batch.h"
#include "tracedb/memory/load_limits.h"

namespace tracedb {

// All ways make the same records; tests hold them against each other.
enum class ParseWay {
  kByLayout,  // known layouts first (event_layouts.h), the rest event by event
  kWhole,     // a window at a time
  kOneByOne   // event by event, mending what can be mended
};

class EventParser {
 public:
  // `number` goes into the batches; without `keep_args` only what the analysis needs is kept.
  // A way that meets trouble in a window goes on to the next one.
  EventParser(const LoadLimits& limits, unsigned number, bool keep_args,
              ParseWay way = ParseWay::kByLayout);
  ~EventParser();
  EventParser(const EventParser&) = delete;
  EventParser& operator=(const EventParser&) = delete;

  // Overwrites bytes next to the window's text; the batch must be clear.
  void Parse(EventWindow& window, EventBatch& batch);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tracedb
