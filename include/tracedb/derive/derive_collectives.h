// Collectives and the process groups they belong to.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
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
  std::string ranks;  // sorted, as "[0,1]"
  int64_t size = 0;
};

// Adds to process_group those of the trace's header, and those that its collectives' args tell of.
Status DeriveGroups(SqliteDb& db, int64_t trace_id, const std::vector<HeaderGroup>& groups);
// Fills collective_part for a rank, over all its traces.
Status DeriveCollectives(SqliteDb& db, int64_t rank);

// By args_text: what the group is for that the args of a collective tell of.
using ArgsParallelism = std::unordered_map<int64_t, Parallelism>;
// After DeriveGroups().
Result<ArgsParallelism> ReadArgsParallelism(SqliteDb& db);

// Adds the groups of the attached database `fresh`.
Status MergeGroups(SqliteDb& db);
// Makes the groups anew from what the traces in the database say; `groups_of` reads a trace's
// header as it is stored.
Status RemakeGroups(SqliteDb& db,
                    const std::function<std::vector<HeaderGroup>(std::string_view)>& groups_of);

}  // namespace tracedb
