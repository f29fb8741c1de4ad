// A window of the database as a trace for Perfetto: /cut.json.gz.
#pragma once

#include "serve/http/web_message.h"
#include "serve/query_slots.h"
#include "serve/running_result.h"
#include "serve/shared_answers.h"
#include "tracedb/base/result.h"
#include "tracedb/serve/serve_command.h"

namespace tracedb {

// from and to (milliseconds, to after from), run, capture, incoming (0 or 1). An error is the
// request's fault.
Result<ServedCut> ReadCutRequest(const WebRequest& request);

// All of it, packed, in a slot that is taken; of more than 64 MiB a refusal.
SharedAnswers::Made MakeCut(const ServeOptions& options, const WebRequest& request, HeldSlot& slot,
                            StopReasons& reasons);

}  // namespace tracedb
