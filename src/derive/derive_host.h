// What the host called, by step and name, and what the GPU did for each: fills host_use,
// kernel_use, sync_use and call_path, and tells on which path each GPU activity was launched.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <unordered_map>

#include "derive/call_nesting.h"
#include "derive/call_paths.h"
#include "derive/call_times.h"
#include "derive/call_uses.h"
#include "derive/graphs/graph_captures.h"
#include "derive/host_use.h"
#include "derive/launch_table.h"
#include "derive/step_finder.h"
#include "derive/step_partition.h"
#include "derive/sync_calls.h"
#include "tracedb/base/apart_bytes.h"
#include "tracedb/base/result.h"
#include "tracedb/base/sqlite_db.h"
#include "tracedb/derive/collectives/derive_groups.h"
#include "tracedb/derive/gathered/gpu_activities.h"
#include "tracedb/derive/gathered/host_slices.h"
#include "tracedb/derive/time_rule.h"
#include "tracedb/memory/load_limits.h"
#include "tracedb/pages/row_store.h"

namespace tracedb {

class HostDerivation {
 public:
  // `base_ns` is what to add to a row's ts; `folder` is for what does not fit in memory.
  HostDerivation(StepFinder steps, int64_t base_ns, const LoadLimits& limits,
                 std::filesystem::path folder);

  // Goes through the slices; adds the calls that have a correlation to `calls`.
  Status ReadSlices(const HostSlices& slices, const TimeRule& times, LaunchCalls& calls);

  // On which path an activity was launched; `call`: without a slice_id where none is known. After
  // ReadSlices().
  LaunchPath PathOf(const GpuActivity& activity, const LaunchCall& call) const;
  // Counts an activity for what is on the path. One thread may while others ask for paths.
  void Count(int64_t event_name, int64_t gpu_ns, const LaunchPath& path, const StepNumber& step);

  // The kind of group that a communication kernel serves: as its own args say, else those of the
  // nearest operator on its path that tell of one; nothing where none does.
  Result<std::optional<Parallelism>> ParallelismOf(const GpuActivity& activity,
                                                   const LaunchPath& path,
                                                   ArgsParallelism& parallelism) const;

  SyncCalls& syncs() { return syncs_; }

  // Fills _call_path, the table `table` of `rows`: ids are `first_path` + number of the path - 1.
  Status StorePaths(RowStore& rows, size_t table, int64_t trace_id, int64_t first_path) const;
  // Fills _host_use, its rowids from `first_row` on, and _kernel_use, which are tables of `rows` as
  // well. Once, when all activities have been counted.
  Status StoreUses(RowStore& rows, size_t host_table, size_t kernel_table, int64_t trace_id,
                   int64_t first_row);
  // Writes the other tables. Once, last.
  Status Store(SqliteDb& db, int64_t trace_id, int64_t first_path);

 private:
  struct Pending {
    int64_t activities = 0;
    int64_t gpu_ns = 0;
  };

  Status ReadInTurn(const HostSlices& slices, const TimeRule& times, LaunchCalls& calls);
  Status ReadInStages(const HostSlices& slices, const TimeRule& times, LaunchCalls& calls);
  void CountPending();
  void CountFor(const LaunchPath& path, const Pending& pending);
  Status StoreHostUse(RowStore& rows, size_t table, int64_t trace_id, int64_t first_row);
  Status StoreKernelUse(RowStore& rows, size_t table, int64_t trace_id);
  Status StoreSyncUse(SqliteDb& db, int64_t trace_id, int64_t first_path);

  StepFinder steps_;
  HostUse host_uses_;  // by uses_
  KernelUse kernel_uses_;
  alignas(kApartBytes) CallPaths paths_;  // by nest_, as the next two
  SyncCalls syncs_;
  GraphCaptures graphs_;
  CallUses uses_;
  CallTimes times_;
  CallNesting nest_;
  bool has_cores_to_spare_;
  StepNumber pending_step_;
  std::unordered_map<uint64_t, Pending> pending_;  // of one step, by both paths
};

}  // namespace tracedb
