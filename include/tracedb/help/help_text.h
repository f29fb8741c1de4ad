// What --help shows.
#pragma once

#include <string>
#include <string_view>

#include "tracedb/help/help_book.h"

namespace tracedb {

inline constexpr size_t kHelpWidth = 80;
// Of the program where `command` is empty.
std::string HelpText(const HelpBook& book, std::string_view command);

}  // namespace tracedb
