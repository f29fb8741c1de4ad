// Text as HTML. Every name in a trace is somebody's text: nothing gets onto a page but through
// EscapedHtml.
#pragma once

#include <string>
#include <string_view>

namespace tracedb {

// Safe between tags and within a quoted attribute. Characters that are not seen, or that turn the
// writing direction, are made visible.
std::string EscapedHtml(std::string_view text);

// The same of a text whose characters may all be shown as they are.
std::string EscapedMarks(std::string_view text);

}  // namespace tracedb
