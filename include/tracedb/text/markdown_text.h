// Names in Markdown.
#pragma once

#include <string>
#include <string_view>

namespace tracedb {

// As text, where "copy<float>" is else taken for HTML and not seen, and a name may be a link.
std::string EscapedMarkdown(std::string_view text);

}  // namespace tracedb
