// What a request for the report's page asks for.
#pragma once

#include <string>

#include "serve/http/web_message.h"
#include "tracedb/base/result.h"
#include "tracedb/report/report_page.h"

namespace tracedb {

// As the options of `tracedb report`: run, capture, step, rank, title, theme. An error is the
// request's fault.
Result<ReportOptions> ReadReportRequest(const WebRequest& request, const std::string& version);

}  // namespace tracedb
