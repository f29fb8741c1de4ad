// How a training log is told from all else that holds words and numbers.
#pragma once

#include <string_view>

#include "tracedb/sources/read/source_reader.h"

namespace tracedb {

// Source code, a document, a table: such a file may quote a log, and is none. The file's name
// says it, or a line that only such files have at its beginning.
bool IsCodeOrDocument(const SourceHead& head);

// Whether a line stands there that only a training program prints.
bool HoldsLogSigns(std::string_view text);

}  // namespace tracedb
