// The replay in SQL, as tables that are worked out when they are asked:
//
//   replay_steps(capture_id, changes)   step, start_ns, end_ns, dur_ns: how long each step of a
//                                       capture takes with the changes
//   replay_path(capture_id, changes)    step, start_ns, end_ns, dur_ns, kind, trace_id, rank,
//                                       slice_id, launch_of, held_by, held_name_id: its critical
//                                       path
//   replay_line(capture_id, changes)    step, start_ns, end_ns, dur_ns, rank: on which rank that
//                                       lies
//
// `changes` is JSON (src/replay/changes/replay_changes.h), NULL or '[]' for none. Times are by the
// aligned clocks. slice_id is the GPU activity, or the host's call that a stretch leads to;
// launch_of then an activity that this call launches; held_by the slice of the host that holds it
// meanwhile, held_name_id that slice's name in names.
#pragma once

#include "tracedb/base/result.h"
#include "tracedb/base/sqlite_db.h"

namespace tracedb {

// For this connection, which keeps the graph of the capture that was asked last. Called again, it
// lets go of it.
Status RegisterReplayTables(SqliteDb& db);

}  // namespace tracedb
