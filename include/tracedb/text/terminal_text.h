// Sentences for a person at a terminal: broken at words, where the terminal would break them
// anywhere.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace tracedb {

// Characters of a line of the terminal that the descriptor is; 0: it is none, or does not say.
size_t TerminalColumns(int descriptor);

// Each line in lines of at most so many columns; those that go on are set in by two more. 0
// columns: as it is.
std::string WrapLines(std::string_view text, size_t columns);

}  // namespace tracedb
