// A database without a trace, as each trace's own file begins: all tables, no views.
#pragma once

#include <cstdint>
#include <span>

#include "tracedb/base/result.h"

namespace tracedb {

// Its file's bytes. SQLite makes them once in a process, as running the schema's SQL takes longer
// than reading a small trace. Several threads may ask at once.
Result<std::span<const uint8_t>> EmptyDatabase();

}  // namespace tracedb
