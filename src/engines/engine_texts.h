// The files of src/engines/sql, as src/cmake/EmbedQueries.cmake compiled them in. The definition is
// generated: only a program that links the generated file may call this.
#pragma once

#include <span>

#include "tracedb/query/doc/query_catalog.h"

namespace tracedb {

std::span<const QueryText> EngineTexts();

}  // namespace tracedb
