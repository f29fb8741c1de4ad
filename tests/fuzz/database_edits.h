// A list of edits of a database's pages and rows, as a fuzzer's input has it: what a fuzzer changes
// is then the structure of the file, whatever its bytes are.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace tracedb {

// Eight bytes an edit: what, which, page (2), place in it (2), value (2). Page numbers and places
// wrap round, so every edit does something. Edits of rows go through SQLite, with the schema open
// to writing; what SQLite refuses is left out.
inline constexpr size_t kEditBytes = 8;

// `file` is a database in a folder of our own; it is changed in place.
void EditDatabase(const std::string& file, std::span<const uint8_t> edits);

}  // namespace tracedb
