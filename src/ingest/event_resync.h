// Where the next event begins behind one that is broken, so that a lost quote or brace costs one
// event and not the rest of the file. Positions are of its opening brace; npos when there is none.
#pragma once

#include <cstddef>
#include <string_view>

namespace tracedb {

// `text` begins at an event that seems never to end. Finds a place that cannot be inside a string
// of valid JSON although the quotes say so: "},{" and then a key of an event. Linear.
size_t NextEventBehindLostQuote(std::string_view text);

// `text` begins at an event that is no JSON. Finds the next object that begins with "ph".
size_t NextEventWithPhase(std::string_view text);

}  // namespace tracedb
