// rocprof's results.json: a Chrome trace whose events have no category. What an event is follows
// from its args.
#pragma once

#include "ingest/parse/event_fields.h"

namespace tracedb {

// Gives an event without a category that of Kineto's events of its kind, and a GPU activity its
// device and stream; others stay as they are.
void FillRocprofFields(EventFields& fields);

}  // namespace tracedb
