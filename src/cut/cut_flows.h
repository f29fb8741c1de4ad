// The flow events of a window whose other end is in it as well: an arrow from nowhere, or into
// nothing, says less than none.
#pragma once

#include <functional>

#include "cut/cut_rows.h"
#include "cut/cut_source.h"
#include "tracedb/base/result.h"
#include "tracedb/base/sqlite_db.h"

namespace tracedb {

// Fills the temporary table of that name, by which CutRows finds them. Events that `keeps` does not
// want count as not there. Their number is bounded by the disk alone
// ($TMPDIR).
inline constexpr const char* kFlowList = "kept_flow";
using KeepsRow = std::function<Result<bool>(const CutRow&)>;
Status ListWholeFlows(SqliteDb& db, const CutSource& trace, const KeepsRow& keeps);

// As well, arrows that begin before the window and end in it. The slices in which they begin, the
// innermost at that time, are listed where they do not reach into the window themselves: without
// its slice a reader drops an arrow, as happens here to those whose slice `keeps` does not want.
inline constexpr const char* kSliceList = "incoming_slice";
Status ListIncomingFlows(SqliteDb& db, const CutSource& trace, const KeepsRow& keeps);

}  // namespace tracedb
