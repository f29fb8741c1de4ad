// Windows of events -> batches of records. An event that looks like an earlier one but for its
// numbers is read without being parsed; the others are parsed one by one, so that a bad event costs
// only itself. A window in which few events are known is parsed in one go as an array instead.
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

// simdjson's, for this processor; done at its first use else.
bool ChooseJsonParser();

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
