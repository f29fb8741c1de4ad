// What a name that SQL does not know was probably meant to be.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace tracedb {

// Advice for SQLite's "no such table: kernel" and "no such column: nam", by the public schema:
// "did you mean kernels?", or which tables have that column. Empty: nothing is near. `sql` is the
// text that has the name: the tables it mentions come first; `more_tables` are there besides.
std::string NearInSchema(std::string_view error, std::string_view sql,
                         std::span<const std::string> more_tables = {});

}  // namespace tracedb
