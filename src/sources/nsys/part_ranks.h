// Which rank of its job each process of an export is: as MPI says, else as the communicator of the
// whole job does, where it is known to be that.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "sources/nsys/export_tables.h"
#include "tracedb/base/result.h"
#include "tracedb/base/sqlite_db.h"
#include "tracedb/sources/nsys/nsys_export.h"

namespace tracedb {

// Fills rank, world and world_size of the parts, whose communicators are known. Where nothing is
// told they stay empty: a rank in a communicator of some of the ranks is none in the job. Of one
// process alone, all of whose communicators hold all processes of the export, it is a guess, unless
// `rank_in_name` is the same; where that is another, the communicator is not the job's.
Status DecideRanks(SqliteDb& db, const ExportTables& tables, uint64_t rows_max,
                   std::optional<int64_t> rank_in_name, std::vector<NsysPart>& parts);

}  // namespace tracedb
