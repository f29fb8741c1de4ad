// Whether a text is JSON.
#pragma once

#include <string_view>

namespace tracedb {

// JSON's number grammar.
bool IsJsonNumber(std::string_view text);

// Whether `text` is one JSON value, numbers of any size included, nested at most 1,000 levels.
bool IsJson(std::string_view text);

}  // namespace tracedb
