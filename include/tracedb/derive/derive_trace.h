// What queries need of one trace, worked out once all its events have been read: the launch and
// step of each GPU activity, busy time, what the host called and what the GPU did for it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>

#include "tracedb/base/result.h"
#include "tracedb/base/sqlite_db.h"
#include "tracedb/derive/collectives/derive_groups.h"
#include "tracedb/derive/gathered/gpu_activities.h"
#include "tracedb/derive/gathered/host_slices.h"
#include "tracedb/derive/gathered/long_slices.h"
#include "tracedb/derive/time_rule.h"
#include "tracedb/memory/load_limits.h"

namespace tracedb {

struct GatheredTrace {
  int64_t trace_id = 0;
  int64_t rank = 0;
  int64_t base_ns = 0;  // what to add to a row's ts
  int64_t zero_ns = 0;  // the absolute time of a ts of 0 in the file
  const GpuActivities& activities;
  const LongSlices& long_slices;
  const HostSlices& host_slices;
  ArgsParallelism& parallelism;
  int64_t first_path = 1;  // the id of its first row in call_path
  int64_t first_row = 1;   // of its events; sums that land as pages are numbered from it
  TimeRule times;          // what it does not keep is in nothing that is worked out
};

// What has been worked out but is little, and so left to be stored through SQLite.
class DerivedUse {
 public:
  struct Parts;
  explicit DerivedUse(std::unique_ptr<Parts> parts);
  DerivedUse(DerivedUse&&) noexcept;
  DerivedUse& operator=(DerivedUse&&) noexcept;
  ~DerivedUse();

  // Once. What was left undone is worked out by SQL: indexes, and busy time of very many tracks.
  Status Store(SqliteDb& db, const GatheredTrace& trace);

 private:
  std::unique_ptr<Parts> parts_;
};

// The bulk of it, for a new file that holds one trace whose rows are complete, after
// DeriveGroups(): fills launch, call_path, host_use, kernel_use, collective_part, busy_segment and
// the indexes of slices by writing their pages. With very many tracks it does not fill busy_segment
// and the indexes. `db` is the file's only connection, without a transaction or a lock: it sees
// that the file has changed when it reads next, and its schema is as it was.
Result<DerivedUse> DeriveTrace(SqliteDb& db, const GatheredTrace& trace, const LoadLimits& limits);

}  // namespace tracedb
