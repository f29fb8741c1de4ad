// From the parameters of /cut.json.gz to the window that is cut.
#pragma once

#include "serve/http/web_message.h"
#include "tracedb/base/result.h"
#include "tracedb/serve/serve_command.h"

namespace tracedb {

// from and to (milliseconds, to after from), run, capture, incoming (0 or 1). An error is the
// request's fault.
Result<ServedCut> ReadCutRequest(const WebRequest& request);

}  // namespace tracedb
