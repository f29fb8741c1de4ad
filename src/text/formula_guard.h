// Keeps texts that come from anybody from being run by a spreadsheet that opens them as CSV.
#pragma once

#include <string>
#include <string_view>

namespace tracedb {

// Whether a spreadsheet may run a cell with this text instead of showing it: after spaces,
// controls, characters that nobody sees and quotes it starts with = + - @, of full width as well,
// and it is not just a number with its sign. A tab or a carriage return in front is enough.
bool IsFormula(std::string_view text);

// Appends the text with a ' wherever a cell would begin with a formula: in front, and behind a ;, a
// tab or a line break within. Where lists are separated by semicolons, a spreadsheet cuts a file
// with commas there, and quotes do not keep it from that.
void AppendGuarded(std::string& out, std::string_view text);

}  // namespace tracedb
