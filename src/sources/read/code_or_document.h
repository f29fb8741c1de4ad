// Files that may quote what a reader looks for, and are none of its files.
#pragma once

#include "tracedb/sources/read/source_reader.h"

namespace tracedb {

// Source code, a document, a table. The file's name says it, or a line that only such files have at
// its beginning.
bool IsCodeOrDocument(const SourceHead& head);

}  // namespace tracedb
