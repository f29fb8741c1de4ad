// What every question needs, worked out once at the end of an ingest, in tables of their own: the
// launch and step of each GPU activity, busy time, collectives and their groups, names of
// processes and threads. Reads and writes an open database only.
#pragma once

#include <cstdint>
#include <vector>

#include "ingest/trace_header.h"
#include "tracedb/base/result.h"
#include "tracedb/base/sqlite_db.h"
#include "tracedb/ingest/load_limits.h"

namespace tracedb {

// Fills process and thread from the trace's metadata events and tracks.
Status DeriveNames(SqliteDb& db, int64_t trace_id);

// Fills launch: for each GPU activity of the trace the runtime call with its correlation, and the
// step. Works through the activities in chunks that fit the memory.
Status DeriveLaunches(SqliteDb& db, int64_t trace_id, const LoadLimits& limits);

// The rest belongs to a rank, over all its traces: replaces what is there.
Status DeriveBusy(SqliteDb& db, int64_t rank);
// `groups` are those of the header of the trace that was just read.
Status DeriveGroups(SqliteDb& db, int64_t trace_id, const std::vector<HeaderGroup>& groups);
Status DeriveCollectives(SqliteDb& db, int64_t rank);

// Indexes of a new database.
Status CreateIndexes(SqliteDb& db);

}  // namespace tracedb
