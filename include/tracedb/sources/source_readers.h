// Every kind of file beside the traces that can be read, and which of them a file is.
#pragma once

#include <span>
#include <string_view>

#include "tracedb/sources/read/source_reader.h"

namespace tracedb {

// In the order in which they are asked: those whose beginning is told most surely come first.
std::span<const SourceReader* const> SourceReaders();

// The reader that the beginning fits; null: none.
const SourceReader* TellSource(const SourceHead& head);

}  // namespace tracedb
