// Host slices in the order of their start -> their step, and what each took itself, by step and
// name.
//
// The time of a thread is that of the innermost slice of a kind; what lasts longer than the one
// around it keeps its time after that one's end.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "derive/host_use.h"
#include "derive/step_finder.h"
#include "derive/track_threads.h"
#include "tracedb/base/apart_bytes.h"
#include "tracedb/derive/gathered/host_slices.h"

namespace tracedb {

// Of CallTimes and CallNesting, each by itself.
struct CallLimits {
  size_t depth_max = 1024;    // of a thread; what is deeper belongs to the deepest that is kept
  size_t threads_max = 4096;  // what is on others has no own time, and is on no path
  size_t held_max = 65536;    // slices that are open, of all threads
};

// What a slice is counted for.
struct CallUse {
  int64_t step_number = 0;  // where it has a step
  uint32_t use = 0;         // in HostUse
  bool has_step = false;

  StepNumber step() const { return has_step ? StepNumber(step_number) : std::nullopt; }
};

class alignas(kApartBytes) CallTimes {
 public:
  // `base_ns` is added to times to find their step. What is passed by reference must outlive it.
  CallTimes(StepFinder& steps, int64_t base_ns, HostUse& uses)
      : steps_(steps), base_ns_(base_ns), uses_(uses), threads_(limits_.threads_max) {}

  // Starts must not fall. Fills `counted`, which is written part by part where it stays: a copy of
  // all of it would have to wait for each part.
  void Add(const HostSlice& slice, CallUse& counted);
  // No slice comes any more.
  void Finish();

 private:
  struct Owner {  // of the thread's time, among its kind
    int64_t end;
    uint32_t use;
  };
  struct Thread {
    std::array<std::vector<Owner>, kHostKinds> owners;
    std::array<int64_t, kHostKinds> counted_to = AllLeast();
  };

  static std::array<int64_t, kHostKinds> AllLeast() {
    std::array<int64_t, kHostKinds> least;
    least.fill(std::numeric_limits<int64_t>::min());
    return least;
  }
  uint32_t UseOf(const StepNumber& step, const HostSlice& slice);
  void Own(Thread& thread, const HostSlice& slice, uint32_t use);
  void CountSelf(Thread& thread, size_t kind, int64_t now);

  StepFinder& steps_;
  int64_t base_ns_;
  const CallLimits limits_;
  HostUse& uses_;
  // The rows of sums that were found last, all of one step: most slices are of a few names.
  struct NearUse {
    int64_t event_name = -1;
    int64_t args_text = 0;
    HostKind kind = HostKind::kOperator;
    uint32_t use = 0;
  };
  static constexpr size_t kNearUses = 2048;  // a power of two; a step has some hundred names
  StepNumber near_step_;
  std::vector<NearUse> near_uses_ = std::vector<NearUse>(kNearUses);
  TrackThreads<Thread> threads_;
  size_t held_ = 0;
};

}  // namespace tracedb
