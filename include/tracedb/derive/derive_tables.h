// What every question needs, worked out once at the end of an ingest, in tables of their own: the
// launch and step of each GPU activity, busy time, collectives and their groups, names of
// processes and threads. Reads and writes databases only.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "derive/busy_use.h"
#include "tracedb/derive/derive_host.h"
#include "tracedb/derive/gpu_activities.h"
#include "derive/launch_table.h"
#include "tracedb/derive/long_slices.h"
#include "derive/step_partition.h"
#include "tracedb/ingest/build/trace_header.h"
#include "tracedb/base/result.h"
#include "tracedb/base/sqlite_db.h"
#include "tracedb/memory/load_limits.h"
#include "tracedb/pages/row_store.h"

namespace tracedb {

// What derive_fresh has worked out but leaves to be stored, because it is little.
struct FreshUse {
  struct Stream {
    std::string device;
    std::string stream;
    StreamUse use;
  };
  struct Device {
    std::string device;
    DeviceUse use;
    std::vector<StepUse> steps;
  };
  std::vector<Stream> streams;
  std::vector<Device> devices;
  bool busy_done = false;                // busy_segment is filled, and the above is complete
  bool indexes_done = false;             // the indexes of slices are filled
  std::unique_ptr<HostDerivation> host;  // complete, and not stored yet
};

struct FreshTrace {
  int64_t rank = 0;
  int64_t base_ns = 0;  // what to add to a row's ts
  int64_t zero_ns = 0;  // the absolute time of a ts of 0 in the file
  const GpuActivities& activities;
  const LongSlices& long_slices;
  int64_t first_path = 1;  // the id of its first row in call_path
  const HostSlices& host_slices;
  const GroupShapes& groups;
};

// The bulk of it, for a new file that holds one trace whose rows are complete and that no
// connection has open: fills launch, busy_segment and the indexes of slices by writing their
// pages. With very many tracks some is left undone, and said so in the result. So it is where
// SQLite is to write: it fills launch alone, as the indexes are there already.
Result<FreshUse> DeriveFresh(const std::filesystem::path& file, const FreshTrace& trace,
                             const LoadLimits& limits, RowWriter writer);

// Through SQLite, for a rank over all its traces: replaces what is there.
Status DeriveBusy(SqliteDb& db, int64_t rank);
Status StoreFreshUse(SqliteDb& db, int64_t rank, const FreshUse& use);
// Fills step_use: of the trace alone, whatever else there is of its rank.
Status StoreStepUse(SqliteDb& db, int64_t trace_id, const FreshUse& use);

// Fills process and thread from the trace's metadata events and tracks.
Status DeriveNames(SqliteDb& db, int64_t trace_id);

// `groups` are those of the header of the trace that was just read.
Status DeriveGroups(SqliteDb& db, int64_t trace_id, const std::vector<HeaderGroup>& groups);
Status DeriveCollectives(SqliteDb& db, int64_t rank);
// What the groups are for that the args of collectives tell of. After DeriveGroups().
Result<GroupShapes> ReadGroupShapes(SqliteDb& db);

// For merging: adds the groups of the attached database `fresh`, and makes the groups anew from
// what the traces in the database say.
Status MergeGroups(SqliteDb& db);
Status RemakeGroups(SqliteDb& db);

}  // namespace tracedb
