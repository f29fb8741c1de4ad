// A GPU's time, cut where it comes to a step, and shared out to the nanosecond: computing, exposed
// communication by the kind of its group, exposed copies, idle by cause. One pass over activities
// that come in order of their start; knows nothing of SQL.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "derive/host_use.h"
#include "derive/sync_calls.h"
#include "tracedb/base/interval.h"
#include "tracedb/schema/parallelism.h"

namespace tracedb {

// Why a GPU ran nothing: by what the thread did that launched the activity which ended the gap. A
// gap may have several causes.
enum class IdleCause : uint8_t {
  kHost,        // the launch came after the gap had begun
  kSync,        // the thread was in a call that waits for the GPU, and its work had not ended
  kDependency,  // the launch was made before: for another stream, a copy, or the driver
  kUnknown,     // it is not in the trace
};
inline constexpr size_t kIdleCauses = 4;

// A stretch of the GPU's time in one step.
struct StepUse : Interval {
  StepNumber step;  // none: before the first one
  int64_t compute_ns = 0;
  int64_t communication_ns = 0;
  int64_t overlap_ns = 0;
  std::array<int64_t, kParallelisms> exposed_ns{};  // of several the kind that ends last
  int64_t exposed_memory_ns = 0;
  std::array<int64_t, kIdleCauses> idle_ns{};
};

struct PartitionActivity : Interval {
  size_t kind = 0;  // StepPartition's
  StepNumber step;
  size_t step_place = 0;  // of its number among those that occur
  std::optional<int64_t> launch_ns;
  uint32_t thread = 0;  // that launched it
};

class StepPartition {
 public:
  static constexpr size_t kComputeKind = 0;
  static constexpr size_t kMemoryKind = kParallelisms + 1;
  static constexpr size_t kKinds = kParallelisms + 2;
  static size_t CommunicationKind(Parallelism parallelism) {
    return 1 + static_cast<size_t>(parallelism);
  }

  // `syncs` must outlive it; what of gaps lies in a call is counted there. Its times are
  // `base_ns` less than those of activities. Steps with a place of `places` or more have no stretch
  // of their own.
  StepPartition(SyncCalls& syncs, int64_t base_ns, size_t places)
      : syncs_(&syncs), base_ns_(base_ns), seen_(places) {}

  // Starts must not fall. Stretches that are complete are appended to `done`, in the order of their
  // start.
  void Add(const PartitionActivity& activity, std::vector<StepUse>& done);
  // No activity comes any more.
  void Finish(std::vector<StepUse>& done);

 private:
  // Once it has ended, end_ns is the start of the activity that ended it: of several that start at
  // once that which was launched first. Of a gap that goes through very many steps the cause of
  // what is in the first ones is not known.
  struct Gap : Interval {
    struct Part {
      size_t stretch;  // the how many-th
      int64_t ns;
    };
    std::vector<Part> parts;
    bool ended = false;
    std::optional<int64_t> launch_ns;
    uint32_t thread = 0;
  };

  void RunTo(int64_t until_ns);
  void CountBusy(uint32_t kinds, int64_t ns);
  void CountIdle(int64_t from_ns, int64_t ns);
  void EndGap(const PartitionActivity& activity);
  void ExplainGap();
  int64_t SyncStart();
  void EnterStep(const PartitionActivity& activity);
  void ForgetParts();
  size_t last() const { return given_ + stretches_.size() - 1; }
  StepUse& StretchAt(size_t number) { return stretches_[number - given_]; }
  void Give(size_t end, std::vector<StepUse>& done);

  SyncCalls* syncs_;
  int64_t base_ns_;
  bool begun_ = false;
  int64_t now_ns_ = 0;
  int64_t end_ns_ = 0;
  std::array<int64_t, kKinds> ends_ns_{};  // of what runs; <= now: nothing
  std::deque<StepUse> stretches_;          // those that are not given yet; the last one is now's
  size_t given_ = 0;                       // how many were before them
  std::vector<bool> seen_;                 // steps, by place
  Gap gap_;
};

}  // namespace tracedb
