// Whether the streams and categories that a cut is asked for are there.
#pragma once

#include "cut/cut_source.h"
#include "tracedb/base/result.h"
#include "tracedb/base/sqlite_db.h"
#include "tracedb/cut/cut_command.h"

namespace tracedb {

// kInput, naming one that no chosen trace has, and those that may have been meant.
Status CheckNames(SqliteDb& db, const CutSources& sources, const CutOptions& options);

}  // namespace tracedb
