// What a trace file has beside its events.
#pragma once

#include <string>

#include "cut/cut_source.h"
#include "tracedb/base/result.h"
#include "tracedb/base/sqlite_db.h"
#include "tracedb/text/output_stream.h"

namespace tracedb {

// Writes the file up to the bracket after which events stand. One trace alone has its own header.
// Several have the keys in which all agree, and one with each one's whole header.
Status WriteHeader(SqliteDb& db, const CutSources& sources, OutputStream& output);

}  // namespace tracedb
