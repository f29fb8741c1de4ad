// Whether texts of the database are the JSON that they are to be: a damaged one is not written out
// as a trace.
#pragma once

#include <string>
#include <string_view>

#include "tracedb/base/result.h"

namespace tracedb {

Error DamagedError(const std::string& what);

// Whether a text with marks (see args_columns.h) is JSON with any integer in place of each mark; as
// `members`, the members of an object without its braces.
bool IsSoundWithIntegers(std::string_view text, bool members);

// Whether these are an object's members, one or more: "key":value,...
bool AreJsonMembers(std::string_view text);

// A trace's header: an object. Gives whether it has no member.
Result<bool> CheckHeaderText(std::string_view header);

}  // namespace tracedb
