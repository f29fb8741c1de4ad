// Communicators: of one trace, and of the runs of a database.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "tracedb/base/result.h"
#include "tracedb/base/sqlite_db.h"
#include "tracedb/memory/bytes_by_id.h"
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
class ArgsParallelism {
 public:
  // After DeriveGroups(), in the same database. `folder` is for what does not fit in `bytes_max`.
  static Result<ArgsParallelism> Read(SqliteDb& db, std::filesystem::path folder, size_t bytes_max);

  // Nothing where the args tell of no group.
  Result<std::optional<Parallelism>> Of(int64_t args_text) {
    TRACEDB_ASSIGN(byte, bytes_.At(args_text));
    if (byte == 0) return std::optional<Parallelism>();
    return std::optional(static_cast<Parallelism>(byte - 1));
  }

 private:
  explicit ArgsParallelism(BytesById bytes) : bytes_(std::move(bytes)) {}

  BytesById bytes_;  // 1 + Parallelism
};

// Adds the groups and collective parts of the attached database `fresh` to this run and capture.
Status MergeCollectives(SqliteDb& db, int64_t trace_id, int64_t run_id, int64_t capture_id);
// The trace has come to another run or capture: its groups and parts go along.
Status MoveCollectives(SqliteDb& db, int64_t trace_id, int64_t run_id, int64_t capture_id);
// Takes out the groups that no trace tells of any more.
Status ForgetUnusedGroups(SqliteDb& db);

}  // namespace tracedb
