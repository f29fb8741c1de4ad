// What shells need to complete words: commands, options, their values, queries and their
// parameters.
#pragma once

#include <string>
#include <string_view>

#include "tracedb/help/help_book.h"
#include "tracedb/query/doc/query_catalog.h"

namespace tracedb {

// For "bash", "zsh" or "fish".
std::string CompletionScript(const HelpBook& book, const QueryCatalog& catalog,
                             std::string_view shell);

}  // namespace tracedb
