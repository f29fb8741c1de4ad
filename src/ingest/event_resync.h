// Where the next event begins behind one that is broken, so that a lost quote or brace costs one
// event and not the rest of the file. Positions are of its opening brace; npos when there is none.
#pragma once

#include <cstddef>
#include <string_view>

namespace tracedb {

// `text` begins at an event that seems never to end. Finds a place that cannot be inside a string
// of valid JSON although the quotes say so: "},{" and then a key of an event. Linear.
size_t NextEventBehindLostQuote(std::string_view text);

// The same for the bracket that closes the array of events: behind a brace, and with a key or the
// text's end behind it.
size_t ArrayEndBehindLostQuote(std::string_view text);

// `text` begins at an event that is no JSON, or that never ends. Finds the next, or the last, "},{"
// that begins an object with a phase, whatever the quotes say. Linear.
size_t NextEventWithPhase(std::string_view text);
size_t LastEventWithPhase(std::string_view text);

// Whether `text`, which stands between the last event of an array and a closing bracket, lets that
// bracket be the array's own: blanks, commas and values that are no objects. Else a quote or a
// brace was lost, and the bracket may be part of a name.
bool MayEndArray(std::string_view text);

}  // namespace tracedb
