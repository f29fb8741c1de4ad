// Windows of events -> batches of records. A window is parsed in one go as an array; if anything
// in it is not as it should be, event by event, so that one bad event costs only itself.
//
// One parser belongs to one thread. Its dictionaries are bounded: when they are full it forgets
// them and says so in the batch.
#pragma once

#include <memory>

#include "ingest/event_batch.h"
#include "ingest/event_window.h"
#include "tracedb/ingest/load_limits.h"

namespace tracedb {

class EventParser {
 public:
  // `number` goes into the batches; without `keep_args` only what the analysis needs is kept.
  EventParser(const LoadLimits& limits, unsigned number, bool keep_args);
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
