// The launch of each GPU activity: fills the table launch, and keeps what the passes over busy time
// need of it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "derive/collectives/collective_facts.h"
#include "derive/collectives/communication_kernels.h"
#include "derive/derive_host.h"
#include "derive/gathered/lot_taker.h"
#include "derive/launch_table.h"
#include "derive/step_finder.h"
#include "derive/step_partition.h"
#include "tracedb/base/result.h"
#include "tracedb/derive/gathered/gpu_activities.h"
#include "tracedb/derive/gathered/host_slices.h"
#include "tracedb/derive/time_rule.h"
#include "tracedb/memory/load_limits.h"
#include "tracedb/pages/row_store.h"

namespace tracedb {

// How an activity came to the GPU, in one number.
struct LaunchFacts {
  std::optional<int64_t> delay_ns;  // from the launch to the start; within 19 hours either way
  uint32_t thread = 0;              // that launched it; 0: not known
  Parallelism parallelism = Parallelism::kOther;

  uint64_t Packed() const;
  static LaunchFacts Unpacked(uint64_t packed);
};

class LaunchDerivation {
 public:
  struct Input {
    const GpuActivities& activities;
    const HostSlices& host_slices;
    ArgsParallelism& parallelism;
    CollectiveFacts* collectives;  // null where nothing communicates
    const TimeRule& times;
    int64_t base_ns;     // what to add to a row's ts
    int64_t first_path;  // the id of its first row in call_path
  };

  // `folder` is for what does not fit in memory.
  LaunchDerivation(const Input& input, StepFinder steps, const LoadLimits& limits,
                   std::filesystem::path folder);

  // First what the host called, which writes nothing; then the launches, to the table that `rows`
  // has under `table`.
  Status ReadHost(LaunchCalls& calls);
  // `take` is told, in the calling thread, of each activity whose time is possible, in the order of
  // their ids.
  using Take = std::function<Status(const GpuActivity&, const LaunchFacts&)>;
  Status Write(const LaunchCalls& calls, RowStore& rows, size_t table, const Take& take);

  // Those whose time is possible. After Write().
  const CommunicationKernels& communication() const { return communication_; }
  StepFinder& steps() { return steps_; }
  HostDerivation& host() { return *host_; }
  std::unique_ptr<HostDerivation> TakeHost() { return std::move(host_); }

 private:
  // What is counted and written of an activity.
  struct Launch {
    int64_t activity_id;
    int64_t event_name;
    int64_t gpu_ns;
    int64_t slice_id;   // 0: no call is known
    int64_t launch_ns;  // where one is
    StepNumber step;
    LaunchPath path;
  };
  using Launches = ItemTaker<Launch>;
  struct Output {
    Launches* counted;  // null: they are when they are stored
    Launches& stored;
    const Take& take;
  };

  struct LookedUp {
    LaunchTable launches;
    std::vector<GpuActivity> activities;  // where whoever looks them up has time to keep them
  };

  Result<LookedUp> LookUp(const LaunchCalls& calls, size_t first, size_t end, bool keep) const;
  Status WriteLots(const LaunchCalls& calls, const Output& output);
  Status WriteLot(const Output& output, LookedUp& lot, size_t first, size_t end);
  Status AddLaunch(const Output& output, const GpuActivity& activity, const LaunchCall& call);
  void Count(std::span<const Launch> launches) const;
  Status Store(std::span<const Launch> launches, RowStore& rows, size_t table) const;
  Result<Parallelism> ParallelismOf(const GpuActivity& activity, const LaunchPath& path,
                                    const CommunicationKernel& kernel);

  Input input_;
  StepFinder steps_;
  const LoadLimits& limits_;
  std::filesystem::path folder_;
  CommunicationKernels communication_;
  std::unique_ptr<HostDerivation> host_;
};

}  // namespace tracedb
