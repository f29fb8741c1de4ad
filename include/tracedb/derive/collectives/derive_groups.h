// Communicators: of one trace, and of the runs of a database.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "tracedb/base/result.h"
#include "tracedb/base/sqlite_db.h"
#include "tracedb/schema/parallelism.h"

namespace tracedb {

// A process group as a trace's header has it.
struct HeaderGroup {
  std::string name;
  std::string description;
  std::string ranks;  // sorted, as "[0,1]"; empty: not told
  int64_t size = 0;   // 0: as many as ranks
};

// For a database that holds one trace: fills _process_group and _trace_group with the groups of its
// header and those that its collectives' args tell of. The trace is a run of its own there.
Status DeriveGroups(SqliteDb& db, int64_t trace_id, const std::vector<HeaderGroup>& groups,
                    const ParallelismRules& rules);

// By args_text: what the group is for that the args of a collective tell of.
using ArgsParallelism = std::unordered_map<int64_t, Parallelism>;
// After DeriveGroups(), in the same database.
Result<ArgsParallelism> ReadArgsParallelism(SqliteDb& db);

// Adds the groups and collective parts of the attached database `fresh` to this run and capture.
Status MergeCollectives(SqliteDb& db, int64_t trace_id, int64_t run_id, int64_t capture_id);
// The trace has come to another run or capture: its groups and parts go along.
Status MoveCollectives(SqliteDb& db, int64_t trace_id, int64_t run_id, int64_t capture_id);
// Takes out the groups that no trace tells of any more.
Status ForgetUnusedGroups(SqliteDb& db);

}  // namespace tracedb
