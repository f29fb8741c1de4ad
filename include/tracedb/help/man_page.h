// The man page, made of what --help says.
#pragma once

#include <string>
#include <string_view>

#include "tracedb/help/help_book.h"

namespace tracedb {

// All commands as tracedb(1), in roff.
std::string ManPage(const HelpBook& book, std::string_view version);

}  // namespace tracedb
