// From an address and its parameters to what is to be run, in which form.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "serve/http/web_message.h"
#include "serve/running_result.h"
#include "tracedb/base/result.h"

namespace tracedb {

struct ResultRequest {
  ResultForm form;
  std::string order;                // of a table
  std::vector<std::string> params;  // the rest, "key=value"
};

// Parameters that are about the form of every answer, and so of no query.
bool IsFormParam(std::string_view name);

// An error over a parameter that no query has, with those of the form that it may have meant.
Error WithFormParams(Error error);

// What is left empty counts as not given, so that a form of the page may be sent as it is. `raw`
// says whether formulas stay as they are when the request does not say. `otherwise` is the format
// where the parameter format is not there. Errors are of kUsage.
Result<ResultRequest> ReadResultRequest(const WebRequest& request, bool is_table, bool raw,
                                        Format otherwise = Format::kCsv);

}  // namespace tracedb
