// Escapes the quotes that a writer forgot to escape: names such as f("a", "b") written as they are.
// A quote ends a string only where what follows could not go on otherwise: another key, or the
// bracket that closes. Also gives keys the quotes that they lack, and takes the backslash at the
// end of "C:\" for what it is where nothing else makes sense.
#pragma once

#include <string>
#include <string_view>

namespace tracedb {

// `event` is the text of one object. False when its structure cannot be told even so; `requoted` is
// empty then. What comes out may still need RepairJson. Linear.
bool RequoteJson(std::string_view event, std::string& requoted);

}  // namespace tracedb
